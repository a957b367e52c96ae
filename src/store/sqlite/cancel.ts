/** Cancels one run, inside the caller's transaction: at once, or by a mark its worker is told of; who may ask is the caller's business. */
import type { CancelAnswer } from '../contract/runs.ts'
import type { Connection } from './connection.ts'
import { ANY_LEASE, finish } from './finish.ts'
import { journal } from './journal.ts'

const FIND = `
  select state, fence, cancel_requested from everytick_runs where id = ?
  union all select state, fence, cancel_requested from everytick_history where id = ?`
const REQUEST_CANCEL = `update everytick_runs set cancel_requested = 1 where id = ?`

export function cancel(connection: Connection, id: string, { at, by }: { at: number; by: string }): CancelAnswer {
  const [run] = connection.all<{ state: string; fence: number; cancel_requested: number }>(FIND, id, id)
  if (run === undefined) return 'not_found'
  if (run.state !== 'pending' && run.state !== 'running') return 'finished'
  if (run.cancel_requested === 0) journal(connection, { at, kind: 'cancel_requested', runId: id, data: { by } })
  connection.run(REQUEST_CANCEL, id)
  if (run.state === 'running') return 'cancelling'
  const end = { from: 'pending', leaseBy: ANY_LEASE, state: 'cancelled', at, progress: null } as const
  finish(connection, [{ id, fence: run.fence, words: null }], end)
  return 'cancelled'
}
