/** Tells whoever asked of every call that was made; what they do with it, and whether they fail, is no matter of the run. */
import type { JobContext } from '../../engine/context.ts'

/** One call, after it ended. */
export interface Dispatch {
  readonly job: string
  readonly run: string
  readonly workspace: string
  /** The key of the schedule; null when enqueued by hand. */
  readonly schedule: string | null
  readonly attempt: number
  /** 0 when there was no answer. */
  readonly status: number
  readonly durationMs: number
}

export interface Called {
  readonly job: string
  readonly status: number
  readonly durationMs: number
}

export function tell(hook: ((dispatch: Dispatch) => unknown) | null, ctx: JobContext, called: Called): void {
  if (hook === null) return
  const { run, workspace, schedule } = ctx
  const { job, status, durationMs } = called
  const about = {
    job,
    run: run.id,
    workspace,
    schedule: schedule?.key ?? null,
    attempt: run.attempt,
    status,
    durationMs,
  }
  const failed = (error: unknown): void =>
    ctx.log.warn('onDispatch failed', { name: error instanceof Error ? error.name : typeof error })
  try {
    Promise.resolve(hook(about)).catch(failed)
  } catch (error) {
    failed(error)
  }
}
