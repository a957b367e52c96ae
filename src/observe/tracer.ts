/** The interface for tracing attempts, for example with OpenTelemetry. The engine reports start and end, and uses no result. */
import type { Run } from '../run/run.ts'
import type { Ended } from '../run/settle.ts'

export interface Tracer {
  /** Called before an attempt starts; must not throw. */
  begin(run: Run): AttemptSpan
}

export interface AttemptSpan {
  /** Calls the work once, with the span active, and returns its result; the work does not throw. */
  within<T>(work: () => T): T
  /** The attempt has ended, even if its handler still runs; must not throw. */
  end(outcome: Ended, durationMs: number): void
}
