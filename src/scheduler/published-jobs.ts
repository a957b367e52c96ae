/** Tells other processes which jobs this one has and what of their payloads is secret, so that a server without the code keeps secrets too. */
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
  /** JSON Schema of the payload, where its library can say it. */
  readonly schema: Json
  /** Paths into the payload that nobody is shown. */
  readonly redact: readonly string[]
}

/** What is stored besides: all that other processes need to make runs of the job as its own process would. */
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

/** Libraries that can say their schema as JSON Schema do so by the same interface that we check payloads with. */
function schemaOf({ schema }: Job): Json {
  type Speaking = { jsonSchema?: { input?: (options: { target: string }) => unknown } }
  try {
    const said = (schema?.['~standard'] as Speaking | undefined)?.jsonSchema?.input?.({ target: 'draft-2020-12' })
    return JSON.parse(JSON.stringify(said ?? null)) as Json
  } catch {
    // What cannot be said, such as a transformation, is no reason to hide the job.
    return null
  }
}

/** A job that was published or refreshed this recently needs neither. */
const FRESH_MS = 1_800_000
/** A job that no worker has refreshed for so long has none: longer than a restart or a deployment takes. */
const GONE_MS = 7_200_000

/** Since when no worker has had this job; null while one has it, or had it a moment ago. */
export const goneSince = ({ updatedAt }: Document, now: number): number | null =>
  now - updatedAt < GONE_MS ? null : updatedAt

/** Writes only what is new or otherwise, or was not refreshed of late; when two builds differ, the one that started last is believed. */
export async function publishJobs({ documents, now }: Store, jobs: Iterable<Job>): Promise<void> {
  const at = await now()
  for (const job of jobs) {
    const { policy, concurrencyKey } = job
    const data = { ...publishedJob(job), policy, concurrencyKey } as unknown as Json
    const known = await documents.get('job', job.name)
    const isSame = known && JSON.stringify(sorted(known.data)) === JSON.stringify(sorted(data))
    if (isSame && at - known.updatedAt < FRESH_MS) continue
    // Another process may be quicker, and says the same as a rule.
    await documents.put({ kind: 'job', id: job.name, workspace: '', state: '', data, from: known?.version ?? 0 })
  }
}

/** Says that a worker with these jobs lives. What another build has published of them since stays. */
export async function refreshJobs({ documents, now }: Store, names: Iterable<string>): Promise<void> {
  const at = await now()
  for (const name of names) {
    const known = await documents.get('job', name)
    if (!known || at - known.updatedAt < FRESH_MS) continue
    const { kind, id, workspace, state, data, version } = known
    // Another worker may be quicker, and says the same.
    await documents.put({ kind, id, workspace, state, data, from: version })
  }
}

export async function readPublishedJobs({ documents }: Store): Promise<StoredJob[]> {
  const found = await documents.list('job', { limit: MAX_LISTED })
  return found.map(({ data }: Document) => data as unknown as StoredJob)
}

/** Stores need not keep the order of fields. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]))
}
