/** Ends the present attempt of a run from outside, under its fence; what follows from that is decided by `run/settle.ts` as for any other end. */
import { createCompletionKey } from '../engine/completion-key.ts'
import { createFailurePause } from '../engine/failure-pause.ts'
import { report } from '../engine/report.ts'
import { EverytickError } from '../errors.ts'
import { toJsonText } from '../json.ts'
import { checkKeys, readBoolean, readChoice, readInteger, readText, refused } from '../options.ts'
import { attemptOfToken } from '../run/completion-token.ts'
import type { Run } from '../run/run.ts'
import { type Outcome, settle } from '../run/settle.ts'
import type { Core } from './core.ts'
import { bytesOf } from './payload-bytes.ts'

export interface CompleteOptions {
  /** What `ctx.completionToken()` answered; it names the attempt by itself. */
  readonly token?: string
  /** Which attempt it is, as `ctx.run.fence` has it; needed where there is no token. */
  readonly fence?: number
  readonly outcome: 'succeeded' | 'failed'
  readonly result?: unknown
  readonly error?: { readonly name?: string; readonly message: string }
  /** Whether a failed attempt is followed by another, as the run's retry policy has it; so it is when absent. */
  readonly retry?: boolean
}

export const COMPLETE_KEYS = ['token', 'fence', 'outcome', 'result', 'error', 'retry']
const OUTCOMES = ['succeeded', 'failed'] as const

/** Which attempt is meant: by its fence alone, or also by its claim where a token names it. */
export interface AttemptName {
  readonly fence: number
  readonly claimId?: string
}

/** Returns the attempt that a token was made for, and null when the token is not for this run. */
export type ReadToken = (runId: string, token: string) => Promise<AttemptName | null>

export function tokenReader(core: Core): ReadToken {
  const key = createCompletionKey(async () => (await core.store()).documents)
  return async (runId, token) => attemptOfToken(await key(), runId, token)
}

/** How it ended, in the words of whoever completes it. */
export interface Completion {
  readonly outcome: CompleteOptions['outcome']
  readonly result?: unknown
  readonly error?: { readonly name?: string | undefined; readonly message: string } | undefined
  readonly retry?: boolean | undefined
}

/** Which attempt is meant is `attemptNamed`. */
export function readCompletion(options: Completion): Outcome {
  const outcome = readChoice(options.outcome, 'outcome', OUTCOMES)
  const { result, error, retry } = options
  if (outcome === 'succeeded') {
    if (error !== undefined || retry !== undefined) throw refused('a run that succeeded has no error and no retry')
    return { kind: 'returned', result: JSON.parse(toJsonText(result ?? null, { what: 'result', strict: true })) }
  }
  if (result !== undefined) throw refused('a run that failed has no result', 'say what went wrong in error')
  if (error !== undefined) checkKeys(error, ['name', 'message'], 'error')
  const name = readText(error?.name ?? 'Error', 'error.name', 200)
  const message = readText(error?.message ?? 'it was reported as failed', 'error.message', 8000)
  const isFinal = retry !== undefined && !readBoolean(retry, 'retry')
  return { kind: isFinal ? 'discarded' : 'threw', error: { name, message } }
}

/** The attempt that is meant; a token and a fence must agree. */
export async function attemptNamed(
  readToken: ReadToken,
  id: string,
  { token, fence }: CompleteOptions,
): Promise<AttemptName> {
  const said = fence === undefined ? null : readInteger(fence, 'fence', [1, Number.MAX_SAFE_INTEGER])
  if (token === undefined) {
    if (said === null)
      throw refused('runs.complete() needs a token or a fence', 'pass what ctx.completionToken() answers')
    return { fence: said }
  }
  const sealed = await readToken(id, readText(token, 'token', 200))
  if (sealed === null) throw refused(`the token is not one of run ${id}`)
  if (said !== null && said !== sealed.fence) throw refused(`the token is for fence ${sealed.fence}, not ${said}`)
  return sealed
}

/** `run` as it was seen before; refused with LEASE_LOST when the attempt is not its present one any more. */
export function completeRun(core: Core, run: Run, how: { attempt: AttemptName; outcome: Outcome }): Promise<void> {
  const { outcome } = how
  const draw = {
    workspace: run.workspace,
    payloadBytesPerDay: outcome.kind === 'returned' ? bytesOf(outcome.result) : 0,
  }
  return core.quotas.within(
    () => [draw],
    () => complete(core, run, how),
  )
}

async function complete(core: Core, run: Run, how: { attempt: AttemptName; outcome: Outcome }): Promise<void> {
  const { fence, claimId = run.claimId } = how.attempt
  // Before anything is written: a token is known for longer than its attempt lasts, and late words would fill the journal.
  if (run.state !== 'running' || run.fence !== fence || run.claimId !== claimId) throw tooLate(run, fence)
  const store = await core.store()
  const verdict = settle(run, how.outcome, Math.random())
  const [answer] = await store.claims.settle([{ id: run.id, fence, claimId, workerId: run.workerId ?? '', verdict }])
  if (answer !== 'accepted') throw tooLate(run, fence)
  const onEvent = core.hub.tell
  report(run, { verdict, answer, durationMs: (await store.now()) - (run.startedAt ?? run.dueAt), onEvent })
  if (verdict.kind !== 'final' || verdict.state !== 'failed') return
  const onError = (error: unknown): void =>
    onEvent({ kind: 'engine.error', where: 'failure-pause', error, retryInMs: 0 })
  await createFailurePause({ store, onEvent }).failed(run).catch(onError)
}

const tooLate = ({ id }: Run, fence: number): EverytickError =>
  new EverytickError('LEASE_LOST', `the attempt of run ${id} with fence ${fence} is over`, {
    hint: 'another attempt has begun, or the run has ended',
  })
