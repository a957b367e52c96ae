/** Runs over HTTP: their shape, and the operations on them. */
import { z } from 'zod'
import { STATUS_ALIASES, withAliases } from '../aliases.ts'
import { operation } from '../operation.ts'
import {
  AnyJson,
  ById,
  component,
  DurationText,
  Id,
  IdBeginning,
  Instant,
  InstantText,
  Name,
  PAGE,
  pageOf,
  queryInclude,
  queryInteger,
  queryList,
  StoredName,
  TimeoutText,
  WARNED,
} from './vocabulary.ts'

const resource = 'runs'
const byId = { params: ById, resource, reach: 'workspace', refusals: ['NOT_FOUND'] } as const
const STATES = ['pending', 'running', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed'] as const

const INCLUDE = queryInclude(['payload', 'result'])

const Failure = z.object({
  name: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  code: z.string().optional(),
  /** Details that the target recorded about the attempt; absent for keys with scope `read`. */
  detail: AnyJson.optional(),
})

export const RunBody = component(
  'Run',
  z.looseObject({
    kind: z.literal('run'),
    id: Id,
    workspace: z.string(),
    job: z.string(),
    queue: z.string(),
    state: z.enum(STATES),
    trigger: z.enum(['schedule', 'catch_up', 'backfill', 'enqueue', 'manual']),
    schedule: z.object({ id: Id, key: z.string(), revision: z.int() }).nullable(),
    scheduledAt: Instant.nullable(),
    dueAt: Instant,
    createdAt: Instant,
    startedAt: Instant.nullable(),
    finishedAt: Instant.nullable(),
    attempt: z.int(),
    maxAttempts: z.int(),
    /** How long one attempt may take, or `none`. */
    timeout: z.string(),
    fence: z.int(),
    workerId: z.string().nullable(),
    /** Like the result, absent for keys with scope `read`, and absent in lists unless `include` names it. */
    payload: AnyJson.optional(),
    result: AnyJson.optional(),
    error: Failure.nullable(),
  }),
)
/** Consecutive occurrences of a schedule that became no run, all for the same reason. */
export const NonRunBody = component(
  'NonRun',
  z.looseObject({
    kind: z.literal('non_run'),
    workspace: z.string(),
    job: z.string(),
    queue: z.string(),
    state: z.enum(['skipped', 'missed']),
    schedule: z.object({ id: Id, key: z.string() }),
    reason: z.string(),
    detail: z.string(),
    count: z.int(),
    /** The nominal instants of the first and the last occurrence. */
    from: Instant,
    to: Instant,
    recordedAt: Instant,
  }),
)
const Listed = pageOf(z.discriminatedUnion('kind', [RunBody, NonRunBody]))
const One = { description: 'The run as it is now.', schema: RunBody }

const Enqueued = z.object({ id: Id, created: z.boolean(), ...WARNED })

export const listRuns = operation({
  id: 'listRuns',
  method: 'get',
  path: '/runs',
  summary:
    'List runs and non-runs (ranges of skipped or missed occurrences), newest first. Future occurrences are listed only with status=pending.',
  resource,
  scope: 'read',
  reach: 'workspace',
  query: withAliases(
    z.strictObject({
      /** An id, or the beginning of one. */
      id: IdBeginning.optional(),
      workspace: StoredName.optional(),
      /** The id of a schedule. */
      schedule: Id.optional(),
      job: StoredName.optional(),
      queue: StoredName.optional(),
      status: queryList(STATES, STATUS_ALIASES).optional(),
      include: INCLUDE,
      ...PAGE,
    }),
  ),
  answers: { 200: { description: 'A page of runs and non-runs.', schema: Listed } },
  refusals: ['CURSOR_INVALID'],
})

export const listExecutions = operation({
  id: 'listExecutions',
  method: 'get',
  path: '/schedules/{id}/executions',
  summary: 'List the runs and non-runs of one schedule, even after its removal. Alias of /runs?schedule=.',
  resource,
  scope: 'read',
  reach: 'workspace',
  params: ById,
  query: z.strictObject({ status: queryList(STATES, STATUS_ALIASES).optional(), include: INCLUDE, ...PAGE }),
  answers: { 200: { description: 'A page of runs and non-runs.', schema: Listed } },
  refusals: ['NOT_FOUND', 'CURSOR_INVALID'],
})

export const enqueueRun = operation({
  id: 'enqueueRun',
  method: 'post',
  path: '/runs',
  summary: 'Create a run of a job.',
  resource,
  scope: 'operate',
  reach: 'workspace',
  action: 'run.enqueue',
  recovery: 'repeat',
  body: withAliases(
    z.strictObject({
      job: Name,
      workspace: Name.optional(),
      payload: AnyJson.optional(),
      delay: DurationText.optional(),
      at: InstantText.optional(),
      queue: Name.optional(),
      priority: z.int().min(0).max(9).optional(),
      timeout: TimeoutText.optional(),
      concurrencyKey: StoredName.optional(),
      idempotencyKey: StoredName.optional(),
    }),
  ),
  answers: {
    200: { description: 'A run with this idempotency key exists already.', schema: Enqueued },
    201: { description: 'The new run.', schema: Enqueued, headers: ['Location'] },
  },
})

export const getRun = operation({
  ...byId,
  id: 'getRun',
  method: 'get',
  path: '/runs/{id}',
  summary: 'Get a run.',
  scope: 'read',
  answers: { 200: One },
})

export const listAttempts = operation({
  ...byId,
  id: 'listAttempts',
  method: 'get',
  path: '/runs/{id}/attempts',
  summary:
    'List the attempts of a run, oldest first, with its other journal entries: rejected results, cancellations, manual retries.',
  scope: 'read',
  query: z.strictObject({ include: queryInclude(['result']), ...PAGE }),
  answers: {
    200: {
      description:
        'Earlier attempts and other journal entries. The last page ends with the latest attempt, in progress or finished.',
      schema: pageOf(z.looseObject({ at: Instant, kind: z.string(), data: AnyJson })),
    },
  },
  refusals: ['NOT_FOUND', 'CURSOR_INVALID'],
})

export const readLogs = operation({
  ...byId,
  id: 'readLogs',
  method: 'get',
  path: '/runs/{id}/logs',
  summary:
    'Read the log of a run, one JSON object per line. With accept: text/event-stream, follow it until the run ends.',
  scope: 'operate',
  query: z.strictObject({
    after: queryInteger(0, Number.MAX_SAFE_INTEGER).optional(),
    limit: queryInteger(1, 5000).optional(),
  }),
  answers: {
    200: { description: 'Lines with seq, at, attempt, level, message, data.', mediaType: 'application/x-ndjson' },
  },
})

export const cancelRun = operation({
  ...byId,
  id: 'cancelRun',
  method: 'post',
  path: '/runs/{id}/cancel',
  summary:
    'Cancel a run. A pending run, or one that waits for an external result, ends at once; a running one is asked to stop.',
  scope: 'operate',
  action: 'run.cancel',
  recovery: 'repeat',
  answers: { 200: One },
})

export const retryRun = operation({
  ...byId,
  id: 'retryRun',
  method: 'post',
  path: '/runs/{id}/retry',
  summary: 'Retry a failed run with a new series of attempts.',
  scope: 'operate',
  action: 'run.retry',
  recovery: 'repeat',
  answers: { 200: One },
  refusals: ['NOT_FOUND', 'RUN_NOT_FAILED'],
})

export const deleteRun = operation({
  ...byId,
  id: 'deleteRun',
  method: 'delete',
  path: '/runs/{id}',
  summary: 'Delete a finished run with its journal and log. The ledger still accounts for its occurrence.',
  scope: 'operate',
  action: 'run.delete',
  answers: { 204: { description: 'Removed.' } },
  refusals: ['NOT_FOUND', 'RUN_NOT_FINISHED'],
})

export const completeRun = operation({
  ...byId,
  id: 'completeRun',
  method: 'post',
  path: '/runs/{id}/complete',
  summary:
    'Report the result of the current attempt of a running run, with the fence or the completion token of the attempt.',
  scope: 'operate',
  action: 'run.complete',
  recovery: 'repeat',
  body: z.strictObject({
    /** Optional with a completion token, which identifies the attempt. */
    fence: z.int().min(1).optional(),
    outcome: z.enum(['succeeded', 'failed']),
    result: AnyJson.optional(),
    error: z
      .strictObject({ name: z.string().min(1).max(200).optional(), message: z.string().min(1).max(8000) })
      .optional(),
    /** Whether the retry policy of the run applies to a failed attempt; true by default. */
    retry: z.boolean().optional(),
  }),
  answers: { 200: One },
  refusals: ['NOT_FOUND', 'LEASE_LOST'],
})
