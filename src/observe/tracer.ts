/** The shape of what follows attempts from outside, such as OpenTelemetry; the engine tells it when one begins and ends, and hears nothing back. */
import type { Run } from '../run/run.ts'
import type { Ended } from '../run/settle.ts'

export interface Tracer {
  /** Called before the work of an attempt begins; must not throw. */
  begin(run: Run): AttemptSpan
}

export interface AttemptSpan {
  /** Calls the work, which does not throw, once and answers what it answers; while it goes on, the span is the active one. */
  within<T>(work: () => T): T
  /** The attempt is over, whether or not its work has heeded that; must not throw. */
  end(outcome: Ended, durationMs: number): void
}
