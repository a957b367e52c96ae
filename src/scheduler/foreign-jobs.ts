/** Stands in for jobs that only other processes have, so that a process without code can keep schedules and make runs of them; it carries none of them out. */
import { defineJob, type Job, type WorkOptions } from '../job.ts'
import type { PayloadSchema } from './payload.ts'
import type { StoredJob } from './published-jobs.ts'

/** Takes any payload: whoever has the job judges it when the run is executed. */
const anything: PayloadSchema = {
  '~standard': { version: 1, vendor: 'everytick', validate: (value) => ({ value }) },
}

/** The jobs of this process, and for every other name a stand-in with what its own process published: queue, timeout and the like. */
export class ForeignJobs extends Map<string, Job> {
  readonly #published = new Map<string, Job>()

  override get(name: string): Job {
    return super.get(name) ?? this.#published.get(name) ?? standIn(name, {})
  }

  override has(name: string): boolean {
    return name !== ''
  }

  learn(published: Iterable<StoredJob>): void {
    for (const job of published) this.#published.set(job.name, standIn(job.name, workOptions(job)))
  }
}

const standIn = (name: string, work: WorkOptions): Job =>
  defineJob({ name, payload: anything, run: neverHere, ...work }) as Job

/** Documents of older versions have no policy: the defaults hold then. */
function workOptions({ queue, priority, policy, concurrencyKey }: StoredJob): WorkOptions {
  if (!policy) return { queue, priority }
  const { attempts, backoff, baseMs: base, maxMs: max } = policy.retry
  const once = policy.delivery === 'at_most_once'
  return {
    ...{ queue, priority, timeout: policy.timeoutMs ?? 'none' },
    // What runs at most once has one attempt, and says so by its delivery.
    retry: once ? { backoff, base, max } : { attempts, backoff, base, max },
    ...(once ? { delivery: 'at_most_once' } : {}),
    ...(concurrencyKey === null ? {} : { concurrencyKey }),
  }
}

const neverHere = (): never => {
  throw new Error('a job of another process is not executed here')
}
