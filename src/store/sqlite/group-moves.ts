/** One move in a concurrency group, where it still applies, inside the caller's transaction; which move it is decides `plan/overlap.ts`. */
import type { GroupMove } from '../../plan/overlap.ts'
import { cancel } from './cancel.ts'
import type { Connection } from './connection.ts'
import { recordNonRun, skippedOf } from './non-runs.ts'
import { play } from './steps.ts'

const OPEN = `
  update everytick_runs as r set readiness = 'ready'
  where id = ? and readiness <> 'ready'
    and not exists (select 1 from everytick_runs o where o.concurrency_group = r.concurrency_group and o.readiness = 'ready')
  returning queue`
const WAIT = `update everytick_runs set readiness = 'blocked' where id = ? and readiness <> 'ready'`
// With nobody before it any more, there is nothing to give way to.
const FIND = `
  select trigger, schedule_id, scheduled_at, slot_start_at from everytick_runs
  where id = ? and state = 'pending' and fence = 0 and exists (select 1 from everytick_runs where id = ?)`
const DELETE = `delete from everytick_runs where id = ?`

/** What others should be told of. */
export interface Effects {
  /** A queue in which a run may be claimed now. */
  readonly opened?: string
  /** A running run is to stop. */
  readonly cancels?: boolean
}

/** Null when the run is not as the decision saw it. */
export function move(connection: Connection, { id, ...what }: GroupMove, now: number): Effects | null {
  switch (what.kind) {
    case 'ready': {
      const [run] = connection.all<{ queue: string }>(OPEN, id)
      return run === undefined ? null : { opened: run.queue }
    }
    case 'block':
      return connection.run(WAIT, id) === 0 ? null : {}
    case 'skip':
      return skip(connection, { id, behind: what.behind }, now)
    case 'cancel': {
      const answer = cancel(connection, id, { at: now, by: BY })
      return answer === 'cancelled' || answer === 'cancelling' ? { cancels: answer === 'cancelling' } : null
    }
  }
}

const BY = 'overlap'

interface Unbegun {
  readonly trigger: string
  readonly schedule_id: string | null
  readonly scheduled_at: number | null
  readonly slot_start_at: number | null
}

function skip(connection: Connection, { id, behind }: { id: string; behind: string }, now: number): Effects | null {
  const [run] = connection.all<Unbegun>(FIND, id, behind)
  if (run === undefined) return null
  const { trigger, schedule_id: scheduleId, scheduled_at, slot_start_at } = run
  // What somebody asked for by hand has no occurrence to account for, and must not vanish without a trace.
  if (scheduleId === null || scheduled_at === null || trigger === 'backfill') {
    cancel(connection, id, { at: now, by: BY })
    return {}
  }
  connection.run(DELETE, id)
  const nonRun = skippedOf({ scheduled_at, slot_start_at }, { reason: 'overlap', detail: behind })
  play(connection, recordNonRun(scheduleId, nonRun, now))
  return {}
}
