/** Tells, as a fact, how an attempt ended and whether that was accepted; what follows from it is `endings.ts`. */
import type { Fact } from '../observe/fact.ts'
import type { Run } from '../run/run.ts'
import type { Verdict } from '../run/settle.ts'
import type { SettleAnswer } from './grants.ts'

export interface Report {
  readonly verdict: Verdict
  readonly answer: SettleAnswer
  readonly durationMs: number
  readonly onFact: (fact: Fact) => void
}

export function report(run: Run, { verdict, answer, durationMs, onFact }: Report): void {
  if (answer === 'refused') onFact({ kind: 'run.refused', run })
  else if (verdict.kind === 'again') {
    const { reason, delayMs, error } = verdict
    onFact({ kind: 'run.again', run, reason, delayMs, error, durationMs })
  } else if (verdict.state === 'succeeded') onFact({ kind: 'run.succeeded', run, result: verdict.result, durationMs })
  else if (verdict.state === 'failed') onFact({ kind: 'run.failed', run, error: verdict.error, durationMs })
  else onFact({ kind: 'run.cancelled', run })
}
