/** Claims in SQLite: who gets which due run, and for how long; the end of a claim is `settle.ts`. */
import type { Clock } from '../../time/clock.ts'
import type { ClaimStore } from '../contract/claims.ts'
import { withBegun, writeBegun } from './begun.ts'
import { claim, peek } from './claim.ts'
import type { Connection } from './connection.ts'
import { LIVE_RUN, NOBODY, type RunRow, runOf } from './run-rows.ts'
import { progressText, readSettlement, settleAll } from './settle.ts'
import type { Wake } from './wake.ts'

const RENEW = `
  update everytick_runs set lease_until = max(lease_until, ?), progress = coalesce(?, progress)
  where id = ? and fence = ? and claim_id is ? and state = 'running' and worker_id <> '${NOBODY}'
  returning cancel_requested`
const HAND_OVER = `
  update everytick_runs set worker_id = '${NOBODY}', lease_until = ?
  where id = ? and state = 'running' and fence = ? and claim_id is ? and cancel_requested = 0`
export const EXPIRED = `
  select ${LIVE_RUN} from everytick_runs where state = 'running' and lease_until <= ? order by lease_until limit ?`

export function claimStore(connection: Connection, clock: Clock, wake: Wake): ClaimStore {
  return {
    async claim(request) {
      // Most looks find nothing, and must not take the one lock that all writers share.
      const { now, isDue, nextDueAt } = await connection.read(() => peek(connection, request, clock))
      if (!isDue) return { now, runs: [], nextDueAt, lastWorkspaces: {} }
      const rows = request.wanted.reduce((sum, { limit }) => sum + limit, 0)
      return connection.write(() => claim(connection, request, clock), rows)
    },
    async renew(leaseMs, leasedRuns, begun = []) {
      const renewals = leasedRuns.map(({ progress, ...grant }) => ({ ...grant, progress: progressText(progress) }))
      if (renewals.length + begun.length === 0) return { now: clock.now(), lost: [], cancelling: [] }
      return connection.write(() => {
        const now = clock.now()
        writeBegun(connection, begun)
        const [lost, cancelling]: [string[], string[]] = [[], []]
        for (const { id, fence, claimId, progress } of renewals) {
          const [row] = connection.all<{ cancel_requested: number }>(RENEW, now + leaseMs, progress, id, fence, claimId)
          if (row === undefined) lost.push(id)
          else if (row.cancel_requested === 1) cancelling.push(id)
        }
        return { now, lost, cancelling }
      }, renewals.length + begun.length)
    },
    async settle(settlements, begun = []) {
      if (settlements.length === 0) return []
      const ready = settlements.map(readSettlement)
      const queues = new Set<string>()
      const settle = () => {
        writeBegun(connection, begun)
        return settleAll(connection, ready, { now: clock.now(), queues })
      }
      const answers = await connection.write(settle, ready.length)
      if (queues.size > 0) wake.hint({ kind: 'runs', queues: [...queues] })
      return answers
    },
    async handOver(leasedRuns, waitMs) {
      if (leasedRuns.length === 0) return []
      return connection.write(() => {
        const until = clock.now() + waitMs
        return leasedRuns.map(({ id, fence, claimId }) =>
          connection.run(HAND_OVER, until, id, fence, claimId) === 1 ? 'accepted' : 'refused',
        )
      }, leasedRuns.length)
    },
    async expired(limit) {
      return connection.read(() => {
        const runs = connection.all<RunRow>(EXPIRED, clock.now(), limit).map(runOf)
        return runs.length === 0 ? [] : withBegun(connection, runs)
      })
    },
  }
}
