/** Reads, from SQLite, what became of a schedule's occurrences: runs by nominal instant, records of non-runs, and revisions. */
import type { Json } from '../../json.ts'
import type { NonRun } from '../../plan/non-run.ts'
import { type HistoryStore, MAX_REVISIONS, type Revision, type SlotRun } from '../contract/history.ts'
import { definitions } from '../definitions.ts'
import { countWithin } from '../page-bytes.ts'
import type { Connection } from './connection.ts'
import { NOBODY } from './run-rows.ts'

export const NON_RUNS = `
  select from_at, to_at, count, state, reason, detail, recorded_at from everytick_non_runs
  where schedule_id = ? and to_at > ? and from_at <= ? order by from_at, rowid`

const slotRun = (of: { readiness: string; finishedAt: string; more?: string }): string => `
  scheduled_at, id, json_object('id', id, 'scheduledAt', scheduled_at, 'dueAt', due_at, 'state', state, 'trigger', trigger,
    'readiness', ${of.readiness}, 'queue', queue, 'revision', coalesce(schedule_revision, 0), 'attempt', attempt,
    'workerId', nullif(worker_id, '${NOBODY}'), 'startedAt', started_at, 'finishedAt', ${of.finishedAt}${of.more ?? ''}) as slot`
const LIVE_SLOT = slotRun({ readiness: 'readiness', finishedAt: 'null' })
const FINISHED_SLOT = slotRun({ readiness: `'ready'`, finishedAt: 'finished_at' })
const DELETED_SLOT = slotRun({
  readiness: `'ready'`,
  finishedAt: 'finished_at',
  more: `, 'deleted', json_object('by', deleted_by, 'at', deleted_at)`,
})
// Each part by an index of its own, in nominal order. One statement, so that a run on its way to history is never missed.
export const SLOTS = `
  select slot from (
    select * from (select ${LIVE_SLOT} from everytick_runs
      where schedule_id = ? and scheduled_at > ? and scheduled_at <= ? and trigger <> 'backfill' order by scheduled_at limit ?)
    union all
    select * from (select ${LIVE_SLOT} from everytick_runs
      where schedule_id = ? and scheduled_at > ? and scheduled_at <= ? and trigger = 'backfill' order by scheduled_at limit ?)
    union all
    select * from (select ${FINISHED_SLOT} from everytick_history
      where schedule_id = ? and scheduled_at > ? and scheduled_at <= ? order by scheduled_at limit ?)
    union all
    select * from (select ${DELETED_SLOT} from everytick_deleted_runs
      where schedule_id = ? and scheduled_at > ? and scheduled_at <= ? order by scheduled_at limit ?))
  order by scheduled_at, id limit ?`
export const REVISIONS = `
  select * from (
    select id, workspace, key, kind, revision, at, by, cut_at, before, after from everytick_revisions
    where schedule_id = ? order by id desc limit ${MAX_REVISIONS})
  order by id`

/** Of a text SQLite knows its length without reading it. */
const REVISION_SIZES = `
  select octet_length(before) + octet_length(after) as size from everytick_revisions
  where schedule_id = ? and id > ? order by id limit ?`
const REVISION_PAGE = `
  select id, workspace, key, kind, revision, at, by, cut_at, before, after from everytick_revisions
  where schedule_id = ? and id > ? order by id limit ?`

interface NonRunRow extends Pick<NonRun, 'count' | 'state' | 'reason' | 'detail'> {
  readonly from_at: number
  readonly to_at: number
  readonly recorded_at: number
}

interface RevisionRow extends Pick<Revision, 'workspace' | 'key' | 'kind' | 'revision' | 'at' | 'by'> {
  readonly id: number
  readonly cut_at: number
  readonly before: string
  readonly after: string
}

type Ledger = Pick<HistoryStore, 'nonRuns' | 'slots' | 'revisions' | 'definitions' | 'revisionPage'>

export function ledger(connection: Connection): Ledger {
  const revisionPage: Ledger['revisionPage'] = (scheduleId, { limit, after = 0, maxBytes }) =>
    connection.read(() => {
      const sizes = connection.all<{ size: number }>(REVISION_SIZES, scheduleId, after, limit + 1)
      const count = countWithin(
        sizes.slice(0, limit).map(({ size }) => size),
        maxBytes,
      )
      const rows = connection.all<RevisionRow>(REVISION_PAGE, scheduleId, after, count)
      const next = sizes.length > count ? rows.at(-1)!.id : null
      return { revisions: rows.map((row) => revisionOf(scheduleId, row)), next }
    })
  return {
    async nonRuns(scheduleId, span) {
      const { afterAt, untilAt } = span ?? { afterAt: Number.MIN_SAFE_INTEGER, untilAt: Number.MAX_SAFE_INTEGER }
      const rows = await connection.read(() => connection.all<NonRunRow>(NON_RUNS, scheduleId, afterAt, untilAt))
      return rows.map(({ from_at, to_at, count, state, reason, detail, recorded_at }) => {
        return { scheduleId, state, reason, detail, fromAt: from_at, toAt: to_at, count, recordedAt: recorded_at }
      })
    },
    async slots(scheduleId, { afterAt, untilAt }, limit) {
      const part = [scheduleId, afterAt, untilAt, limit]
      const values = [...part, ...part, ...part, ...part, limit]
      const rows = await connection.read(() => connection.all<{ slot: string }>(SLOTS, ...values))
      return rows.map(({ slot }) => JSON.parse(slot) as SlotRun)
    },
    async revisions(scheduleId) {
      const rows = await connection.read(() => connection.all<RevisionRow>(REVISIONS, scheduleId))
      return rows.map((row) => revisionOf(scheduleId, row))
    },
    definitions: (scheduleId) => definitions(revisionPage, scheduleId),
    revisionPage,
  }
}

function revisionOf(scheduleId: string, { id: _, cut_at: cutAt, before, after, ...rest }: RevisionRow): Revision {
  return { scheduleId, ...rest, cutAt, before: JSON.parse(before) as Json, after: JSON.parse(after) as Json }
}
