/** Warns about a job that no live process has. The request still succeeds, because the process may start later. */
import { didYouMean } from '../did-you-mean.ts'
import { shown } from '../errors.ts'
import { goneSince } from '../scheduler/published-jobs.ts'
import type { Parts } from './parts.ts'
import type { WarningBody } from './warnings.ts'

/** The most jobs that a warning lists; the rest are counted. */
const LISTED = 10

export async function jobWarnings({ core, jobs }: Pick<Parts, 'core' | 'jobs'>, job: string): Promise<WarningBody[]> {
  if (core.settings.ownJobs.has(job)) return []
  // Read from the store, because the cache of `jobs` may be older than a process that has just started.
  const store = await core.store()
  const [published, now] = await Promise.all([store.documents.get('job', job), store.now()])
  const goneAt = published && goneSince(published, now)
  if (published && goneAt === null) return []
  const known = jobs.list().map(({ name }) => name)
  const text = goneAt === null ? textOf(job, known) : goneText(job, goneAt)
  return [{ code: 'NO_PROCESS_FOR_JOB', at: null, text }]
}

const goneText = (job: string, at: number): string =>
  `no live worker has the job ${shown(job)}: the last sign of one was at ${new Date(at).toISOString()}; its runs wait until one has it`

export function textOf(job: string, known: readonly string[]): string {
  const near = didYouMean(job, known)
  const more = known.length > LISTED ? ` and ${known.length - LISTED} more` : ''
  const guess = near === undefined ? '' : ` Did you mean ${shown(near)}?`
  const list = known.length === 0 ? 'No job is known yet.' : `Known jobs: ${known.slice(0, LISTED).join(', ')}${more}.`
  return `no process that has started has the job ${shown(job)}; its runs wait until one has it.${guess} ${list}`
}
