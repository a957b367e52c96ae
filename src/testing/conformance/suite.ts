/** The whole suite, one group per file of the store contract and for the races between its verbs; the promises stand in those files. */
import { describe } from 'vitest'
import type { Store } from '../../store/contract/store.ts'
import { appsGroup } from './apps.ts'
import { auditLogGroup } from './audit-log.ts'
import { backfillsGroup } from './backfills.ts'
import { boundedPagesGroup } from './bounded-pages.ts'
import { claimsGroup } from './claims.ts'
import { claimsBegunGroup } from './claims-begun.ts'
import { claimsHandOverGroup } from './claims-hand-over.ts'
import { claimsRenewGroup } from './claims-renew.ts'
import { claimsSettleGroup } from './claims-settle.ts'
import { documentsGroup } from './documents.ts'
import { failoversGroup } from './failovers.ts'
import { feedGroup } from './feed.ts'
import { groupMoveTests } from './group-moves.ts'
import { groupRaceTests } from './group-races.ts'
import { groupTests } from './groups.ts'
import { declareGroup, type Group, type StoreHarness } from './harness.ts'
import { historyGroup } from './history.ts'
import { hostileTextGroup } from './hostile-text.ts'
import { illegalRunsGroup } from './illegal-runs.ts'
import { latestGroup } from './latest.ts'
import { locksGroup } from './locks.ts'
import { logsGroup } from './logs.ts'
import { monitoringGroup } from './monitoring.ts'
import { nonRunsGroup } from './non-runs.ts'
import { planningGroup } from './planning.ts'
import { planningRecordGroup } from './planning-record.ts'
import { queueLimitsGroup } from './queue-limits.ts'
import { queuesGroup } from './queues.ts'
import { quotasGroup } from './quotas.ts'
import { racesOfHandOversGroup } from './races-of-hand-overs.ts'
import { racesOfPlansGroup } from './races-of-plans.ts'
import { racesOfRunsGroup } from './races-of-runs.ts'
import { retractionsGroup } from './retractions.ts'
import { revisionsGroup } from './revisions.ts'
import { runsGroup } from './runs.ts'
import { runsOperatedGroup } from './runs-operated.ts'
import { runsRemovedGroup } from './runs-removed.ts'
import { scheduleEditsGroup } from './schedule-edits.ts'
import { scheduleFindGroup } from './schedule-find.ts'
import { schedulePauseEndsGroup } from './schedule-pause-ends.ts'
import { schedulePausesGroup } from './schedule-pauses.ts'
import { schedulesGroup } from './schedules.ts'
import { slotsGroup } from './slots.ts'
import { statsGroup } from './stats.ts'
import { storeGroup } from './store.ts'
import { transactionsGroup } from './transactions.ts'
import { transitionsGroup } from './transitions.ts'
import { upkeepGroup } from './upkeep.ts'
import { wakeGroup } from './wake.ts'
import { workersGroup } from './workers.ts'

const GROUPS: Readonly<Record<string, readonly Group[]>> = {
  store: [storeGroup, hostileTextGroup],
  schedules: [
    schedulesGroup,
    scheduleFindGroup,
    scheduleEditsGroup,
    schedulePausesGroup,
    schedulePauseEndsGroup,
    retractionsGroup,
    revisionsGroup,
  ],
  planning: [planningGroup, planningRecordGroup, nonRunsGroup],
  runs: [runsGroup, runsOperatedGroup, runsRemovedGroup, illegalRunsGroup],
  claims: [claimsGroup, claimsBegunGroup, claimsRenewGroup, claimsHandOverGroup, claimsSettleGroup, transitionsGroup],
  groups: [groupTests, groupMoveTests],
  queues: [queuesGroup, queueLimitsGroup],
  backfills: [backfillsGroup],
  apps: [appsGroup],
  history: [historyGroup, slotsGroup, latestGroup, boundedPagesGroup],
  locks: [locksGroup],
  workers: [workersGroup],
  failovers: [failoversGroup],
  documents: [documentsGroup],
  auditLog: [auditLogGroup],
  logs: [logsGroup],
  feed: [feedGroup],
  stats: [statsGroup],
  monitoring: [monitoringGroup],
  quotas: [quotasGroup],
  upkeep: [upkeepGroup],
  wake: [wakeGroup],
  transactions: [transactionsGroup],
  races: [racesOfPlansGroup, racesOfRunsGroup, racesOfHandOversGroup, groupRaceTests],
}

/** Declares, as vitest tests, everything the engine relies on; each test gets a fresh store from the harness. */
export function storeConformance<S extends Store>(name: string, harness: StoreHarness<S>): void {
  describe(`the store "${name}"`, () => {
    for (const [title, groups] of Object.entries(GROUPS))
      for (const group of groups) declareGroup(title, group, harness)
  })
}
