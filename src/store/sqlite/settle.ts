/** Applies verdicts to claimed runs, under their fences and inside the caller's transaction; which verdicts they are decides `run/settle.ts`. */
import { type Json, toJsonText } from '../../json.ts'
import type { Run } from '../../run/run.ts'
import type { Settlement } from '../contract/claims.ts'
import { wavesOf } from './batch.ts'
import type { Connection } from './connection.ts'
import { ANY_LEASE, type End, finish } from './finish.ts'
import { journal } from './journal.ts'

// The fence keeps a worker that lost its lease from giving back somebody else's attempt. What is to be cancelled comes
// back at once, so that it ends instead of keeping others waiting.
const GIVE_BACK = `
  update everytick_runs
  set state = 'pending', due_at = case when cancel_requested then ? when ? then due_at else ? end, attempt = attempt - ?, error = coalesce(?, error), progress = coalesce(?, progress),
    worker_id = null, claim_id = null, lease_until = null
  where id = ? and fence = ? and claim_id is ? and state = 'running' and lease_until <= ?
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
    result: 'result' in verdict && verdict.result !== undefined ? toJsonText(verdict.result, { what: 'result' }) : null,
    progress: progressText(settlement.progress),
  }
}

export const progressText = (progress: Run['progress'] | undefined): string | null =>
  progress ? toJsonText(progress, { what: 'progress' }) : null

export interface SettleContext {
  readonly now: number
  /** Collects the queues in which a run waits again. */
  readonly queues: Set<string>
}

type Answer = 'accepted' | 'refused'

/** Answers in the order of the input; of two for one run, the second meets what the first left. */
export function settleAll(connection: Connection, batch: readonly ReadySettlement[], context: SettleContext): Answer[] {
  const answers: Answer[] = []
  for (const wave of wavesOf(batch, ({ settlement }) => [settlement.id])) {
    const ended = finishUniform(connection, wave, context.now)
    for (const ready of wave) {
      const accepted = ended.get(ready) ?? giveBack(connection, ready, context)
      if (!accepted) refuse(connection, ready.settlement, context.now)
      answers.push(accepted ? 'accepted' : 'refused')
    }
  }
  return answers
}

/** Ends those with a final verdict, in as few groups as have nothing but their words to tell them apart. */
function finishUniform(connection: Connection, wave: readonly ReadySettlement[], at: number) {
  const groups = new Map<string, { readonly end: End; readonly members: ReadySettlement[] }>()
  for (const ready of wave) {
    const { verdict, onlyExpired } = ready.settlement
    if (verdict.kind !== 'final') continue
    const { progress } = ready
    const name = `${verdict.state} ${onlyExpired === true} ${progress}`
    let group = groups.get(name)
    if (group === undefined) {
      const leaseBy = onlyExpired ? at : ANY_LEASE
      groups.set(name, (group = { end: { from: 'running', leaseBy, state: verdict.state, at, progress }, members: [] }))
    }
    group.members.push(ready)
  }
  const ended = new Map<ReadySettlement, boolean>()
  for (const { end, members } of groups.values()) {
    const endings = members.map(({ settlement: { id, fence, claimId }, error, result }) => ({
      id,
      fence,
      claimId,
      words: error ?? result,
    }))
    const answers = finish(connection, endings, end)
    for (const [i, ready] of members.entries()) ended.set(ready, answers[i] ?? false)
  }
  return ended
}

function refuse(connection: Connection, { id, fence, workerId, verdict, onlyExpired }: Settlement, at: number): void {
  // Somebody was quicker than the reaper, or the lease was renewed: nothing was done that could be lost.
  if (onlyExpired) return
  // Kept whole, since it may be the only trace of work that was done.
  const data = { workerId, fence, verdict: verdict as unknown as Json }
  journal(connection, { at, kind: 'refused', runId: id, data })
}

function giveBack(connection: Connection, ready: ReadySettlement, { now, queues }: SettleContext): boolean {
  const { id, fence, claimId, workerId, verdict, onlyExpired } = ready.settlement
  if (verdict.kind !== 'retry') return false
  const { delayMs, keepsDue, counts, reason } = verdict
  const leaseBy = onlyExpired ? now : ANY_LEASE
  const values = [
    now,
    keepsDue ? 1 : 0,
    now + delayMs,
    counts ? 0 : 1,
    ready.error,
    ready.progress,
    id,
    fence,
    claimId,
    leaseBy,
  ]
  const [run] = connection.all<{ queue: string; attempt: number }>(GIVE_BACK, ...values)
  if (run === undefined) return false
  queues.add(run.queue)
  const about = { workerId, fence, attempt: run.attempt, delayMs, counts }
  const data = { ...about, error: verdict.error as unknown as Json }
  journal(connection, { at: now, kind: reason, runId: id, data })
  return true
}
