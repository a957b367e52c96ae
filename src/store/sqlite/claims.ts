/** Grants in SQLite: who gets which due run, and for how long; the end of a grant is `settle.ts`. */
import type { Run } from '../../run/run.ts'
import type { Clock } from '../../time/clock.ts'
import type { ClaimRequest, ClaimStore } from '../contract/claims.ts'
import type { Connection } from './connection.ts'
import { LIVE_RUN, type RunRow, runOf } from './rows.ts'
import { progressText, readSettlement, settleOne } from './settle.ts'
import type { Wake } from './wake.ts'

const PRIORITIES = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

// One priority at a time: only then does the index lead to the due ones and past those still to come.
export const CLAIM = `
  update everytick_runs
  set state = 'running', attempt = attempt + 1, fence = fence + 1, worker_id = ?, lease_until = ?, started_at = ?
  where rowid in (
    select rowid from everytick_runs
    where state = 'pending' and queue = ? and priority = ? and due_at <= ?
    order by due_at limit ?)
  returning ${LIVE_RUN}`
/** The first pending run of a queue after an instant: one probe of the index for each priority. */
export const NEXT_DUE = `
  select min((
    select due_at from everytick_runs
    where state = 'pending' and queue = ? and priority = level.column1 and due_at > ?
    order by due_at limit 1)) as due_at
  from (values ${PRIORITIES.map((priority) => `(${priority})`).join(', ')}) level`
const RENEW = `
  update everytick_runs set lease_until = max(lease_until, ?), progress = coalesce(?, progress)
  where id = ? and fence = ? and state = 'running'
  returning cancel_requested`
export const EXPIRED = `
  select ${LIVE_RUN} from everytick_runs where state = 'running' and lease_until <= ? order by lease_until limit ?`

/** Before every instant. */
const EVER = Number.MIN_SAFE_INTEGER

export function claimStore(connection: Connection, clock: Clock, wake: Wake): ClaimStore {
  /** The earliest pending run of the wanted queues that is due after `after`. */
  function nextDueAt({ wanted }: ClaimRequest, after: number): number | null {
    const found = wanted.flatMap(({ queue }) =>
      connection.all<{ due_at: number | null }>(NEXT_DUE, queue, after).flatMap((row) => row.due_at ?? []),
    )
    return found.length === 0 ? null : Math.min(...found)
  }

  function grant({ workerId, leaseMs, wanted }: ClaimRequest, now: number): Run[] {
    const runs: Run[] = []
    for (const { queue, limit } of wanted) {
      let left = limit
      for (const priority of PRIORITIES) {
        if (left <= 0) break
        const rows = connection.all<RunRow>(CLAIM, workerId, now + leaseMs, now, queue, priority, now, left)
        left -= rows.length
        // SQLite answers in no promised order; what is as late comes as it was inserted.
        runs.push(...rows.map(runOf).sort((a, b) => a.dueAt - b.dueAt))
      }
    }
    return runs
  }

  return {
    async claim(request) {
      // Most looks find nothing, and must not take the one lock that all writers share.
      const soonest = await connection.read(() => nextDueAt(request, EVER))
      const now = clock.now()
      if (soonest === null || soonest > now) return { now, runs: [], nextDueAt: soonest }
      const rows = request.wanted.reduce((sum, { limit }) => sum + limit, 0)
      return connection.write(() => {
        const now = clock.now()
        return { now, runs: grant(request, now), nextDueAt: nextDueAt(request, now) }
      }, rows)
    },
    async renew(leaseMs, grants) {
      const renewals = grants.map(({ id, fence, progress }) => ({ id, fence, progress: progressText(progress) }))
      if (renewals.length === 0) return { now: clock.now(), lost: [], cancelling: [] }
      return connection.write(() => {
        const now = clock.now()
        const [lost, cancelling]: [string[], string[]] = [[], []]
        for (const { id, fence, progress } of renewals) {
          const [row] = connection.all<{ cancel_requested: number }>(RENEW, now + leaseMs, progress, id, fence)
          if (row === undefined) lost.push(id)
          else if (row.cancel_requested === 1) cancelling.push(id)
        }
        return { now, lost, cancelling }
      }, renewals.length)
    },
    async settle(settlements) {
      if (settlements.length === 0) return []
      const ready = settlements.map(readSettlement)
      const queues = new Set<string>()
      const answers = await connection.write(() => {
        const now = clock.now()
        return ready.map((one) => settleOne(connection, one, { now, queues }))
      }, ready.length)
      if (queues.size > 0) wake.hint({ kind: 'runs', queues: [...queues] })
      return answers
    },
    async expired(limit) {
      const rows = await connection.read(() => connection.all<RunRow>(EXPIRED, clock.now(), limit))
      return rows.map(runOf)
    },
  }
}
