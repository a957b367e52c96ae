/** The duties that one process at a time does for all of them, each under a lease of its own; what a duty does is a file of its own. */
import { type Backfiller, createBackfiller } from './backfiller.ts'
import type { Endings } from './endings.ts'
import type { EngineOptions } from './engine-options.ts'
import { createJanitor } from './janitor.ts'
import { everybodyLeads, type Leadership, leadership } from './leadership.ts'
import { createPlanner, type Planner } from './planner.ts'
import { createReaper } from './reaper.ts'

/** Shorter than the lookahead, so that the next planner takes over before anything is late. */
const PLANNER_LEASE_MS = 4000
const DUTY_LEASE_MS = 5000
const JANITOR_LEASE_MS = 120_000

export interface Duties {
  readonly planner: Planner
  readonly reaper: { pass(): Promise<number> }
  readonly janitor: { pass(): Promise<number> }
  readonly backfiller: Backfiller
  /** Gives up every lease, so that others need not wait for its end. */
  release(): Promise<unknown>
}

export interface DutyOptions extends EngineOptions {
  readonly random: () => number
  readonly onEnd: Endings
  readonly onBackfillStep: () => void
}

export function createDuties(options: DutyOptions): Duties {
  const { store, clock, workerId, lookaheadMs, retention, random, onFact, onEnd } = options
  const lead = (name: string, leaseMs: number): Leadership =>
    leadership({ locks: store.locks, clock, name, holder: workerId, leaseMs })
  const leaders = {
    planner: options.planner === 'all' ? everybodyLeads : lead('planner', PLANNER_LEASE_MS),
    reaper: lead('reaper', DUTY_LEASE_MS),
    janitor: lead('janitor', JANITOR_LEASE_MS),
    backfills: lead('backfills', DUTY_LEASE_MS),
  }
  return {
    planner: createPlanner({ planning: store.planning, leadership: leaders.planner, lookaheadMs, onFact }),
    reaper: createReaper({ claims: store.claims, leadership: leaders.reaper, workerId, random, onEnd, onFact }),
    janitor: createJanitor({ upkeep: store.upkeep, leadership: leaders.janitor, retention }),
    backfiller: createBackfiller({ store, leadership: leaders.backfills, onStep: options.onBackfillStep }),
    release: () => Promise.allSettled(Object.values(leaders).map((leader) => leader.release())),
  }
}
