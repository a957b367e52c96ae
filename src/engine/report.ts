/** Tells, as a fact, how an attempt ended and whether that was accepted; what follows from it is `endings.ts`. */
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Run } from '../run/run.ts'
import type { Verdict } from '../run/settle.ts'
import type { SettleAnswer } from './leased-runs.ts'

export interface Report {
  readonly verdict: Verdict
  readonly answer: SettleAnswer
  readonly durationMs: number
  readonly onEvent: (fact: EngineEvent) => void
}

export function report(run: Run, { verdict, answer, durationMs, onEvent }: Report): void {
  if (answer === 'refused') onEvent({ kind: 'run.refused', run })
  else if (verdict.kind === 'retry') {
    const { reason, delayMs, error } = verdict
    onEvent({ kind: 'run.retry', run, reason, delayMs, error, durationMs })
  } else if (verdict.state === 'succeeded') onEvent({ kind: 'run.succeeded', run, result: verdict.result, durationMs })
  else if (verdict.state === 'failed') onEvent({ kind: 'run.failed', run, error: verdict.error, durationMs })
  else onEvent({ kind: 'run.cancelled', run })
}
