/** Decides with which options a job is added to BullMQ: under which id, and how long BullMQ must remember it; pure. */
import type { JobsOptions } from 'bullmq'
import { shown } from '../../errors.ts'
import { checkKeys, refused } from '../../options.ts'

export type WaitFor = 'accepted' | 'completed'
type Removal = NonNullable<JobsOptions['removeOnComplete']>

/** A retry comes within the hour: that is the longest pause there is unless somebody asks for a longer one. */
const REMEMBERED_MS = 3_600_000
/** In seconds, as BullMQ counts ages. */
const KEPT = { removeOnComplete: 3600, removeOnFail: 86_400 }
const LEAST_KEPT = 60

/** What the run decides itself; each would let one run become two jobs, or none. */
const OURS: Readonly<Record<string, string>> = {
  jobId: 'the id is that of the run',
  deduplication: 'each run has its own id; see overlap for schedules that catch up with themselves',
  debounce: 'each run has its own id; see overlap for schedules that catch up with themselves',
  repeat: 'when it happens is decided by the schedule',
  parent: 'add the flow from a job of your own instead',
}

export function checkOptions(options: JobsOptions, wait: WaitFor, of: string): void {
  checkKeys(options, Object.keys(options ?? {}), `${of}: options`)
  for (const key of Object.keys(options)) {
    const why = OURS[key]
    if (why !== undefined) throw refused(`${of}: options.${key} cannot be given`, why)
  }
  if (wait === 'accepted') return
  for (const key of ['removeOnComplete', 'removeOnFail'] as const) {
    const removal = options[key]
    if (removal === undefined || staysAWhile(removal)) continue
    const what = `${of}: wait 'completed' must find the job after its end, and options.${key} ${shown(removal)} removes it too early`
    throw refused(what, `use { age: ${KEPT[key]} }, in seconds and at least ${LEAST_KEPT}, or false to keep it`)
  }
}

/** A number is how many stay, and under load that may be no time at all. */
const staysAWhile = (removal: Removal): boolean =>
  removal === false ||
  (typeof removal === 'object' && !('count' in removal) && (removal.age ?? Number.POSITIVE_INFINITY) >= LEAST_KEPT)

interface Added {
  readonly run: string
  readonly wait: WaitFor
  readonly options: JobsOptions
  /** Of the queue. */
  readonly defaults: JobsOptions
}

/**
 * A job that is still there is not added again: BullMQ looks for its id. One that was removed when it had ended would be; so
 * whoever does not wait leaves a mark that outlives the job, and whoever waits has the job itself kept.
 */
export function addedOptions({ run, wait, options, defaults }: Added): JobsOptions {
  if (wait === 'accepted') return { ...options, jobId: run, deduplication: { id: run, ttl: REMEMBERED_MS } }
  const keep = (key: keyof typeof KEPT): Removal => {
    const asked = options[key] ?? defaults[key]
    return asked !== undefined && staysAWhile(asked) ? asked : { age: KEPT[key] }
  }
  return { ...options, jobId: run, removeOnComplete: keep('removeOnComplete'), removeOnFail: keep('removeOnFail') }
}
