/** Publishes the jobs of this process, with the secret paths of their payloads, so that a server without their code also hides secrets. */
import type { Job } from '../job.ts'
import type { Json } from '../json.ts'
import type { RunPolicy } from '../run/run.ts'
import { timeoutText } from '../run/timeout.ts'
import type { Document } from '../store/contract/documents.ts'
import type { Store } from '../store/contract/store.ts'

export interface PublishedJob {
  readonly name: string
  readonly queue: string
  readonly priority: number
  readonly attempts: number
  /** Such as `1h`, or `none`. */
  readonly timeout: string
  readonly takesPayload: boolean
  /** JSON Schema of the payload, if the schema library can export it. */
  readonly schema: Json
  /** Paths into the payload that the server hides from everyone. */
  readonly redact: readonly string[]
}

/** The stored form: also has what other processes need to create runs with the options of the job. */
export interface StoredJob extends PublishedJob {
  readonly policy: RunPolicy
  readonly concurrencyKey: string | null
}

const MAX_LISTED = 1000

export function publishedJob(job: Job): PublishedJob {
  const { name, queue, priority, policy, schema, redact } = job
  return {
    ...{ name, queue, priority, redact },
    attempts: policy.retry.attempts,
    timeout: timeoutText(policy),
    takesPayload: schema !== undefined,
    schema: schemaOf(job),
  }
}

/** Libraries that can export JSON Schema do so through the Standard Schema interface. */
function schemaOf({ schema }: Job): Json {
  type Speaking = { jsonSchema?: { input?: (options: { target: string }) => unknown } }
  try {
    const said = (schema?.['~standard'] as Speaking | undefined)?.jsonSchema?.input?.({ target: 'draft-2020-12' })
    return JSON.parse(JSON.stringify(said ?? null)) as Json
  } catch {
    // The job is published even if its schema cannot be exported, for example because of a transformation.
    return null
  }
}

/** A job that was published or refreshed within this time is not written again. */
const FRESH_MS = 1_800_000
/** A job that no worker has refreshed for this long has no worker; longer than a restart or a deployment takes. */
const GONE_MS = 7_200_000

/** The time since which no worker has this job; null while a worker has it or had it recently. */
export const goneSince = ({ updatedAt }: Document, now: number): number | null =>
  now - updatedAt < GONE_MS ? null : updatedAt

/** Writes only jobs that are new, changed or not refreshed recently. When two builds differ, the one that started last wins. */
export async function publishJobs({ documents, now }: Store, jobs: Iterable<Job>): Promise<void> {
  const at = await now()
  for (const job of jobs) {
    const { policy, concurrencyKey } = job
    const data = { ...publishedJob(job), policy, concurrencyKey } as unknown as Json
    const known = await documents.get('job', job.name)
    const isSame = known && JSON.stringify(sorted(known.data)) === JSON.stringify(sorted(data))
    if (isSame && at - known.updatedAt < FRESH_MS) continue
    // Another process may write first; it usually writes the same.
    await documents.put({ kind: 'job', id: job.name, workspace: '', state: '', data, from: known?.version ?? 0 })
  }
}

/** Refreshes the jobs of a live worker, without overwriting what another build has published since. */
export async function refreshJobs({ documents, now }: Store, names: Iterable<string>): Promise<void> {
  const at = await now()
  for (const name of names) {
    const known = await documents.get('job', name)
    if (!known || at - known.updatedAt < FRESH_MS) continue
    const { kind, id, workspace, state, data, version } = known
    // Another worker may write first; it writes the same.
    await documents.put({ kind, id, workspace, state, data, from: version })
  }
}

export async function readPublishedJobs({ documents }: Store): Promise<StoredJob[]> {
  const found = await documents.list('job', { limit: MAX_LISTED })
  return found.map(({ data }: Document) => data as unknown as StoredJob)
}

/** Stores may change the order of fields. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]))
}
