/** `app.enqueue` and `app.enqueueMany`: validate everything, then create the runs; the engine executes them. */

import { shown } from '../errors.ts'
import { isJob, type Job, type NoPayload, readKey, readTimeout } from '../job.ts'
import type { Json } from '../json.ts'
import {
  checkKeys,
  type Duration,
  type Instant,
  readDuration,
  readInstantOption,
  readInteger,
  readName,
  readStoredName,
  refused,
} from '../options.ts'
import { groupOfKey } from '../plan/group.ts'
import type { RunPolicy } from '../run/run.ts'
import { jobOf } from '../schedule-definition.ts'
import type { NewRun } from '../store/contract/runs.ts'
import { addRuns } from './adding-runs.ts'
import { type Core, type InTransaction, readTx } from './core.ts'
import { storablePayload } from './payload.ts'
import type { Stored } from './run-view.ts'

export interface RunOptions {
  /** The run is due after this delay. */
  readonly delay?: Duration
  /** The run is due at this instant; at once if it has passed. */
  readonly at?: Instant
  /** A second enqueue with the same key in the same workspace returns the first run. */
  readonly idempotencyKey?: string
  readonly priority?: number
  /** `default` when absent. */
  readonly workspace?: string
  readonly queue?: string
  /** How long one attempt may take, or `none`; the timeout of the job when absent. */
  readonly timeout?: Duration | 'none'
  /** The run waits until no other run with this key in its workspace is in flight; the key of the job when absent. */
  readonly concurrencyKey?: string
}

export interface EnqueueOptions extends RunOptions, InTransaction {}

type InputOf<J> = J extends Job<infer Input, unknown> ? Input : never
export type ResultOf<J> = J extends Job<infer _, infer Result> ? Stored<Result> : never

/** A job without a schema takes no payload argument. */
export type EnqueueArguments<J extends Job> = [InputOf<J>] extends [NoPayload]
  ? [options?: EnqueueOptions]
  : undefined extends InputOf<J>
    ? [payload?: InputOf<J>, options?: EnqueueOptions]
    : [payload: InputOf<J>, options?: EnqueueOptions]

export type EnqueueItem<J extends Job> = RunOptions &
  ([InputOf<J>] extends [NoPayload]
    ? { readonly payload?: undefined }
    : undefined extends InputOf<J>
      ? { readonly payload?: InputOf<J> }
      : { readonly payload: InputOf<J> })

/** Identifies a run and carries the type of its result, for `app.runs.wait()`. */
export interface RunHandle<Result = unknown> {
  readonly id: string
  /** False when a run with the idempotency key already existed. */
  readonly created: boolean
  /** Only when an existing run had already succeeded. */
  readonly result?: Result
}

const KEYS = ['delay', 'at', 'idempotencyKey', 'priority', 'workspace', 'queue', 'timeout', 'concurrencyKey']
const ENQUEUE_KEYS = [...KEYS, 'tx']
const ITEM_KEYS = [...KEYS, 'payload']

export async function enqueue(core: Core, job: Job, args: readonly unknown[]): Promise<RunHandle> {
  const where = checkJob(core, job)
  if (job.schema === undefined && args.length > 1) {
    throw refused(
      `${where} takes no payload, so the options are the second argument`,
      `write app.enqueue(job, options)`,
    )
  }
  const [payload, given = {}] = job.schema === undefined ? [undefined, args[0]] : args
  checkKeys(given, ENQUEUE_KEYS, 'enqueue()')
  const options = given as EnqueueOptions
  const tx = readTx(options)
  const run = newRun(core, job, { options, payload: await payloadOf(job, payload) })
  const [answer] = await addRuns(core, [run], tx)
  const { id, created } = answer!
  if (created || tx) return { id, created }
  const known = await (await core.store()).history.run(id)
  return { id, created, ...(known?.state === 'succeeded' ? { result: known.result } : {}) }
}

export async function enqueueMany(
  core: Core,
  job: Job,
  { items, options }: { items: readonly unknown[]; options: InTransaction },
): Promise<RunHandle[]> {
  checkJob(core, job)
  if (!Array.isArray(items)) throw refused(`enqueueMany takes a list of runs, not ${shown(items)}`)
  checkKeys(options, ['tx'], 'enqueueMany()')
  const tx = readTx(options)
  const payloads: Json[] = []
  for (const item of items) {
    checkKeys(item, ITEM_KEYS, 'a run')
    const { payload: given } = item
    // Awaits only payloads that need a check: in a long list, awaiting is most of the cost.
    payloads.push(given === undefined && !job.schema ? null : await payloadOf(job, given))
  }
  // Created synchronously, so that ids of another call cannot come between them.
  const runs = items.map((item, i) => newRun(core, job, { options: item, payload: payloads[i]! }))
  if (runs.length === 0) return []
  return addRuns(core, runs, tx)
}

/** Returns the name of the job for error messages. */
function checkJob(core: Core, job: unknown): string {
  if (!isJob(job)) throw refused(`enqueue takes a job, not ${shown(job)}`, 'define one with defineJob()')
  jobOf(job, core.settings.jobs, 'enqueue')
  return `job "${job.name}"`
}

const payloadOf = (job: Job, payload: unknown): Promise<Json> =>
  storablePayload(job.schema, payload, `job "${job.name}"`)

function newRun(core: Core, job: Job, { options, payload }: { options: RunOptions; payload: Json }): NewRun {
  const { idempotencyKey, priority, queue, timeout } = options
  const where = `job "${job.name}"`
  const workspace = options.workspace === undefined ? 'default' : readName(options.workspace, 'workspace')
  const concurrencyKey = readKey(options.concurrencyKey, where) ?? job.concurrencyKey
  return {
    id: core.newId(),
    workspace,
    job: job.name,
    queue: queue === undefined ? job.queue : readName(queue, 'queue'),
    trigger: 'enqueue',
    priority: priority === undefined ? job.priority : readInteger(priority, 'priority', [0, 9]),
    payload,
    policy: timeout === undefined ? job.policy : withTimeout(job.policy, readTimeout(timeout, where)),
    schedule: null,
    slot: null,
    group: concurrencyKey === null ? null : groupOfKey(workspace, concurrencyKey),
    // The caller wants this particular run, so it waits where an occurrence might be skipped.
    overlap: concurrencyKey === null ? 'allow' : 'queue',
    due: readDue(options),
    idempotencyKey: idempotencyKey === undefined ? null : readStoredName(idempotencyKey, 'idempotencyKey'),
  }
}

function withTimeout(policy: RunPolicy, timeoutMs: number | undefined): RunPolicy {
  if (timeoutMs === policy.timeoutMs) return policy
  const { timeoutMs: _, ...rest } = policy
  return timeoutMs === undefined ? rest : { ...rest, timeoutMs }
}

const NOW = { delayMs: 0 }

function readDue({ delay, at }: RunOptions): NewRun['due'] {
  if (delay !== undefined && at !== undefined) throw refused('delay and at cannot be combined', 'remove one of them')
  if (at !== undefined) return { at: readInstantOption(at, 'at') }
  return delay === undefined ? NOW : { delayMs: readDuration(delay, 'delay') }
}
