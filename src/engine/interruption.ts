/** Decides, purely, how a run in progress ends when an error that no code caught ends the process; writing it down is `engine.ts`. */
import { EverytickError } from '../errors.ts'
import type { Run } from '../run/run.ts'
import type { Outcome } from '../run/settle.ts'
import { runError } from './run-error.ts'

/** An error that no code caught. */
export interface Uncaught {
  readonly error: unknown
  /** The run in progress whose code threw it; null when that is not known. */
  readonly thrower: Pick<Run, 'id' | 'job' | 'attempt'> | null
}

export interface Interruption {
  readonly outcome: Outcome
  /** The reason of the handler's signal. */
  readonly reason: EverytickError
}

export function interruptionOf({ error, thrower }: Uncaught, run: Pick<Run, 'id'>): Interruption {
  const origin =
    thrower === null ? 'which run threw it is not known' : `run ${thrower.id} of job "${thrower.job}" threw it`
  const message = `an uncaught error ends the worker process; ${origin}`
  const reason = new EverytickError('UNCAUGHT_ERROR', message, { cause: error })
  if (thrower?.id === run.id) return { outcome: threw(error), reason }
  const { name, code } = reason
  return { outcome: { kind: 'interrupted', error: { name, message, code }, isByAnother: thrower !== null }, reason }
}

/** The run fails with the error itself; its code says how it came out, unless the error has one. */
function threw(error: unknown): Outcome {
  return { kind: 'threw', error: { code: 'UNCAUGHT_ERROR', ...runError(error) } }
}
