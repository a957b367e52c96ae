/** The jobs of all processes, for display and for payload redaction. */
import type { Core } from '../scheduler/core.ts'
import { ForeignJobs } from '../scheduler/foreign-jobs.ts'
import { type PublishedJob, publishedJob, readPublishedJobs } from '../scheduler/published-jobs.ts'

export interface KnownJobs {
  /** Refreshes the list if it is some seconds old. */
  refresh(): Promise<void>
  list(): readonly PublishedJob[]
  /** The redacted paths; null if no process has published the redactions of this job. */
  redactOf(job: string): readonly string[] | null
}

const FRESH_MS = 5000

export function createKnownJobs(core: Core): KnownJobs {
  const own = new Map([...core.settings.ownJobs.values()].map((job) => [job.name, publishedJob(job)]))
  let jobs = own
  let redactions = unionOf([...own.values()])
  let readAt: number | null = null
  let reading: Promise<void> | null = null

  const read = async (): Promise<void> => {
    const stored = await readPublishedJobs(await core.store())
    if (core.settings.jobs instanceof ForeignJobs) core.settings.jobs.learn(stored)
    const published = stored.map(({ policy: _, concurrencyKey: __, ...shown }) => shown)
    jobs = new Map([...published, ...own.values()].map((job) => [job.name, job]))
    redactions = unionOf([...published, ...own.values()])
    readAt = core.clock.elapsed()
  }

  return {
    async refresh() {
      if (readAt !== null && core.clock.elapsed() - readAt < FRESH_MS) return
      reading ??= read().finally(() => {
        reading = null
      })
      await reading
    },
    list: () => [...jobs.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    redactOf: (job) => redactions.get(job) ?? null,
  }
}

/** While several builds run, the redactions of all of them apply. */
function unionOf(jobs: readonly PublishedJob[]): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, readonly string[]>()
  for (const { name, redact } of jobs) paths.set(name, [...new Set([...(paths.get(name) ?? []), ...redact])])
  return paths
}
