/** `app.runs.complete`: an external system ends the current attempt of a run, under its fence; `run/settle.ts` decides the verdict. */
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
  /** The token that `ctx.completionToken()` returned; it identifies the attempt. */
  readonly token?: string
  /** The attempt to complete, from `ctx.run.fence`; required without a token. */
  readonly fence?: number
  readonly outcome: 'succeeded' | 'failed'
  readonly result?: unknown
  readonly error?: { readonly name?: string; readonly message: string }
  /** Whether a failed attempt is retried by the run's retry policy; true when absent. */
  readonly retry?: boolean
}

export const COMPLETE_KEYS = ['token', 'fence', 'outcome', 'result', 'error', 'retry']
const OUTCOMES = ['succeeded', 'failed'] as const

/** Identifies an attempt: by its fence, and with a token also by its claim. */
export interface AttemptName {
  readonly fence: number
  readonly claimId?: string
}

/** Returns the attempt that a token was issued for, or null when the token is not for this run. */
export type ReadToken = (runId: string, token: string) => Promise<AttemptName | null>

export function tokenReader(core: Core): ReadToken {
  const key = createCompletionKey(async () => (await core.store()).documents)
  return async (runId, token) => attemptOfToken(await key(), runId, token)
}

/** The outcome that the caller reports. */
export interface Completion {
  readonly outcome: CompleteOptions['outcome']
  readonly result?: unknown
  readonly error?: { readonly name?: string | undefined; readonly message: string } | undefined
  readonly retry?: boolean | undefined
}

/** Validates the outcome; `attemptNamed` reads which attempt it is for. */
export function readCompletion(options: Completion): Outcome {
  const outcome = readChoice(options.outcome, 'outcome', OUTCOMES)
  const { result, error, retry } = options
  if (outcome === 'succeeded') {
    if (error !== undefined || retry !== undefined)
      throw refused('error and retry are only allowed with outcome failed', 'remove them, or set outcome to failed')
    return { kind: 'returned', result: JSON.parse(toJsonText(result ?? null, { what: 'result', strict: true })) }
  }
  if (result !== undefined)
    throw refused('result is only allowed with outcome succeeded', 'describe the failure in error')
  if (error !== undefined) checkKeys(error, ['name', 'message'], 'error')
  const name = readText(error?.name ?? 'Error', 'error.name', 200)
  const message = readText(
    error?.message ?? 'the completion reported a failure without a message',
    'error.message',
    8000,
  )
  const isFinal = retry !== undefined && !readBoolean(retry, 'retry')
  return { kind: isFinal ? 'discarded' : 'threw', error: { name, message } }
}

/** Returns the attempt to complete; if both are given, token and fence must agree. */
export async function attemptNamed(
  readToken: ReadToken,
  id: string,
  { token, fence }: CompleteOptions,
): Promise<AttemptName> {
  const said = fence === undefined ? null : readInteger(fence, 'fence', [1, Number.MAX_SAFE_INTEGER])
  if (token === undefined) {
    if (said === null)
      throw refused('runs.complete() needs a token or a fence', 'pass the token that ctx.completionToken() returned')
    return { fence: said }
  }
  const sealed = await readToken(id, readText(token, 'token', 200))
  if (sealed === null) throw refused(`the token does not belong to run ${id}`)
  if (said !== null && said !== sealed.fence) throw refused(`the token is for fence ${sealed.fence}, not ${said}`)
  return sealed
}

/** Throws LEASE_LOST when the attempt is not the current attempt of the run any more. */
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
  // Checked before the write: tokens outlive their attempts, and late completions would fill the journal.
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
  new EverytickError('LEASE_LOST', `the attempt of run ${id} with fence ${fence} has already ended`, {
    hint: 'another attempt has started, or the run has ended',
  })
