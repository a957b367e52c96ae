/** Cancels one run, inside the caller's transaction: at once, or by a mark its worker is told of; who may ask is the caller's business. */
import type { RunState } from '../../run/state.ts'
import type { CancelAnswer } from '../contract/runs.ts'
import type { Connection } from './connection.ts'
import { ANY_LEASE, finish } from './finish.ts'
import { journal } from './journal.ts'
import { NOBODY } from './run-rows.ts'

const FIND = `
  select state, fence, claim_id, worker_id, cancel_requested from everytick_runs where id = ?
  union all select state, fence, null, worker_id, cancel_requested from everytick_history where id = ?`
const REQUEST_CANCEL = `update everytick_runs set cancel_requested = 1 where id = ?`

interface Found {
  readonly state: RunState
  readonly fence: number
  readonly claim_id: string | null
  readonly worker_id: string | null
  readonly cancel_requested: number
}

export function cancel(connection: Connection, id: string, { at, by }: { at: number; by: string }): CancelAnswer {
  const [run] = connection.all<Found>(FIND, id, id)
  if (run === undefined) return 'not_found'
  if (run.state !== 'pending' && run.state !== 'running') return 'finished'
  if (run.cancel_requested === 0) journal(connection, { at, kind: 'cancel_requested', runId: id, data: { by } })
  connection.run(REQUEST_CANCEL, id)
  // Where nobody is at work, there is nobody to tell.
  if (run.state === 'running' && run.worker_id !== NOBODY) return 'cancelling'
  const end = { from: run.state, leaseBy: ANY_LEASE, state: 'cancelled', at, progress: null } as const
  finish(connection, [{ id, fence: run.fence, claimId: run.claim_id, words: null }], end)
  return 'cancelled'
}
