/** Placeholders for jobs that only other processes have, so that a process without their code can store schedules and create runs, without executing them. */
import { defineJob, type Job, type WorkOptions } from '../job.ts'
import type { PayloadSchema } from './payload.ts'
import type { StoredJob } from './published-jobs.ts'

/** Accepts any payload: the worker that has the job validates it when it executes the run. */
const anything: PayloadSchema = {
  '~standard': { version: 1, vendor: 'everytick', validate: (value) => ({ value }) },
}

/** The jobs of this process, and for every other name a placeholder with the options that its process published, such as queue and timeout. */
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

/** Documents of older versions have no policy; the defaults apply then. */
function workOptions({ queue, priority, policy, concurrencyKey }: StoredJob): WorkOptions {
  if (!policy) return { queue, priority }
  const { attempts, backoff, baseMs: base, maxMs: max } = policy.retry
  const once = policy.delivery === 'at_most_once'
  return {
    ...{ queue, priority, timeout: policy.timeoutMs ?? 'none' },
    // `at_most_once` implies one attempt, so attempts are left out.
    retry: once ? { backoff, base, max } : { attempts, backoff, base, max },
    ...(once ? { delivery: 'at_most_once' } : {}),
    ...(concurrencyKey === null ? {} : { concurrencyKey }),
  }
}

const neverHere = (): never => {
  throw new Error('this process does not have the code of the job')
}
