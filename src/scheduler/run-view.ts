/** The public view of a run: the row with Dates instead of milliseconds; `runs.ts` reads and filters rows. */
import type { Delivery } from '../job.ts'
import type { Json } from '../json.ts'
import type { Overlap, Progress, Readiness, Run, RunError, ScheduleRef, Trigger } from '../run/run.ts'
import type { RunState } from '../run/state.ts'
import { timeoutText } from '../run/timeout.ts'
import { dateOf } from '../schedule/instant.ts'

/** The type of a value after a round trip through JSON: a Date becomes a string, and void becomes null. */
export type Stored<T> = T extends { toJSON(): infer U }
  ? Stored<U>
  : T extends string | number | boolean | null
    ? T
    : T extends void
      ? null
      : T extends readonly unknown[]
        ? { [At in keyof T]: Stored<T[At]> }
        : T extends object
          ? { [Key in keyof T as T[Key] extends Callable ? never : Key]: StoredField<T[Key]> }
          : Json

type Callable = (...args: never[]) => unknown
type StoredField<T> = undefined extends T ? Stored<Exclude<T, undefined>> | undefined : Stored<T>

export interface RunView<Result = Json> {
  readonly id: string
  readonly workspace: string
  readonly job: string
  readonly queue: string
  readonly state: RunState
  readonly trigger: Trigger
  readonly priority: number
  readonly schedule: ScheduleRef | null
  /** The nominal instant; null when the run was enqueued by hand. */
  readonly scheduledAt: Date | null
  readonly dueAt: Date
  /** What happens when a previous run is unfinished when this one comes due; `allow` without a concurrency group. */
  readonly overlap: Overlap
  /** `ready`: may start when it is due. `blocked`: waits for another run of its concurrency group. `undecided`: not decided yet. */
  readonly readiness: Readiness
  readonly delivery: Delivery
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly payload: Json
  readonly attempt: number
  readonly maxAttempts: number
  /** How long one attempt may take, such as `1h`, or `none`. */
  readonly timeout: string
  /** Grows with every claim. */
  readonly fence: number
  readonly workerId: string | null
  readonly cancelRequested: boolean
  readonly idempotencyKey: string | null
  readonly progress: Progress | null
  /** What the handler returned; null before that, and when it returned nothing. A cancelled run has a result if its handler returned one. */
  readonly result: Result | null
  /** The error of the last failed attempt. */
  readonly error: RunError | null
}

export function runView(run: Run): RunView {
  return {
    id: run.id,
    workspace: run.workspace,
    job: run.job,
    queue: run.queue,
    state: run.state,
    trigger: run.trigger,
    priority: run.priority,
    schedule: run.schedule,
    scheduledAt: dateOf(run.scheduledAt),
    dueAt: new Date(run.dueAt),
    overlap: run.overlap,
    readiness: run.readiness,
    delivery: run.policy.delivery ?? 'at_least_once',
    createdAt: new Date(run.createdAt),
    startedAt: dateOf(run.startedAt),
    finishedAt: dateOf(run.finishedAt),
    payload: run.payload,
    attempt: run.attempt,
    maxAttempts: run.policy.retry.attempts,
    timeout: timeoutText(run.policy),
    fence: run.fence,
    workerId: run.workerId,
    cancelRequested: run.cancelRequested,
    idempotencyKey: run.idempotencyKey,
    progress: run.progress,
    result: run.result,
    error: run.error,
  }
}
