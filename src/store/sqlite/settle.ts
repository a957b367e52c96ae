/** Applies one verdict to a granted run, under its fence and inside the caller's transaction; which verdict it is decides `run/settle.ts`. */
import { type Json, toJsonText } from '../../json.ts'
import type { Run } from '../../run/run.ts'
import type { Verdict } from '../../run/settle.ts'
import type { Settlement } from '../contract/claims.ts'
import type { Connection } from './connection.ts'
import { ANY_LEASE, finish, type Seen } from './finish.ts'
import { journal } from './journal.ts'

// The fence keeps a worker that lost its lease from giving back somebody else's attempt. What is to be cancelled comes
// back at once, so that it ends instead of keeping others waiting.
const GIVE_BACK = `
  update everytick_runs
  set state = 'pending', due_at = iif(cancel_requested, ?, ?), attempt = attempt - ?, error = coalesce(?, error), progress = coalesce(?, progress),
    worker_id = null, lease_until = null
  where id = ? and fence = ? and state = 'running' and lease_until <= ?
  returning queue, attempt`

/** A settlement with its values as text, so that nothing is refused half way through a batch. */
export interface ReadySettlement {
  readonly settlement: Settlement
  readonly error: string | null
  readonly result: string | null
  readonly progress: string | null
}

export function readSettlement(settlement: Settlement): ReadySettlement {
  const { verdict } = settlement
  const failure = 'error' in verdict ? verdict.error : null
  return {
    settlement,
    error: failure === null ? null : toJsonText(failure, { what: 'error' }),
    result: 'result' in verdict ? toJsonText(verdict.result, { what: 'result' }) : null,
    progress: progressText(settlement.progress),
  }
}

export const progressText = (progress: Run['progress'] | undefined): string | null =>
  progress ? toJsonText(progress, { what: 'progress' }) : null

export interface Turn {
  readonly now: number
  /** Collects the queues in which a run waits again. */
  readonly queues: Set<string>
}

export function settleOne(connection: Connection, ready: ReadySettlement, turn: Turn): 'accepted' | 'refused' {
  const { id, fence, workerId, verdict, onlyExpired } = ready.settlement
  const { error, result, progress } = ready
  const held: Seen = { id, fence, state: 'running', leaseBy: onlyExpired ? turn.now : ANY_LEASE }
  const accepted =
    verdict.kind === 'final'
      ? finish(connection, held, { state: verdict.state, at: turn.now, error, result, progress })
      : giveBack(connection, { held, ready, verdict }, turn)
  if (accepted) return 'accepted'
  // Somebody was quicker than the reaper, or the lease was renewed: nothing was done that could be lost.
  if (onlyExpired) return 'refused'
  // Kept whole, since it may be the only trace of work that was done.
  const data = { workerId, fence, verdict: verdict as unknown as Json }
  journal(connection, { at: turn.now, kind: 'refused', runId: id, data })
  return 'refused'
}

interface GivenBack {
  readonly held: Seen
  readonly ready: ReadySettlement
  readonly verdict: Extract<Verdict, { kind: 'again' }>
}

function giveBack(connection: Connection, { held, ready, verdict }: GivenBack, { now, queues }: Turn): boolean {
  const { id, fence, leaseBy } = held
  const { delayMs, counts, reason } = verdict
  const values = [now, now + delayMs, counts ? 0 : 1, ready.error, ready.progress, id, fence, leaseBy]
  const [run] = connection.all<{ queue: string; attempt: number }>(GIVE_BACK, ...values)
  if (run === undefined) return false
  queues.add(run.queue)
  const about = { workerId: ready.settlement.workerId, fence, attempt: run.attempt, delayMs, counts }
  const data = { ...about, error: verdict.error as unknown as Json }
  journal(connection, { at: now, kind: reason, runId: id, data })
  return true
}
