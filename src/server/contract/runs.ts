/** Runs over HTTP: their shape, and the operations on them. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import {
  AnyJson,
  ById,
  component,
  DurationText,
  Id,
  Instant,
  InstantText,
  Name,
  PAGE,
  pageOf,
  queryInteger,
  queryList,
} from './vocabulary.ts'

const resource = 'runs'
const byId = { params: ById, resource, reach: 'workspace', refusals: ['NOT_FOUND'] } as const
const STATES = ['pending', 'running', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed'] as const

const Failure = z.object({
  name: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  code: z.string().optional(),
  /** What a target kept of the attempt; absent for those who may only read. */
  detail: AnyJson.optional(),
})

export const RunBody = component(
  'Run',
  z.looseObject({
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
    fence: z.int(),
    workerId: z.string().nullable(),
    /** Absent for those who may only read; so is the result. */
    payload: AnyJson.optional(),
    result: AnyJson.optional(),
    error: Failure.nullable(),
  }),
)
const One = { description: 'The run as it is now.', schema: RunBody }

export const listRuns = operation({
  id: 'listRuns',
  method: 'get',
  path: '/runs',
  summary: 'List runs, live and finished together, newest first.',
  resource,
  scope: 'read',
  reach: 'workspace',
  query: z.strictObject({
    workspace: Name.optional(),
    /** The id of a schedule. */
    schedule: Id.optional(),
    job: Name.optional(),
    queue: Name.optional(),
    status: queryList(STATES).optional(),
    ...PAGE,
  }),
  answers: { 200: { description: 'A page of runs.', schema: pageOf(RunBody) } },
  refusals: ['CURSOR_INVALID'],
})

export const listExecutions = operation({
  id: 'listExecutions',
  method: 'get',
  path: '/schedules/{id}/executions',
  summary: 'The runs of a schedule, newest first; another name of /runs?schedule=.',
  resource,
  scope: 'read',
  reach: 'workspace',
  params: ById,
  query: z.strictObject({ status: queryList(STATES).optional(), ...PAGE }),
  answers: { 200: { description: 'A page of runs.', schema: pageOf(RunBody) } },
  refusals: ['NOT_FOUND', 'CURSOR_INVALID'],
})

export const enqueueRun = operation({
  id: 'enqueueRun',
  method: 'post',
  path: '/runs',
  summary: 'Make one run of a job.',
  resource,
  scope: 'operate',
  reach: 'workspace',
  action: 'run.enqueue',
  body: z.strictObject({
    job: Name,
    workspace: Name.optional(),
    payload: AnyJson.optional(),
    delay: DurationText.optional(),
    at: InstantText.optional(),
    queue: Name.optional(),
    priority: z.int().min(0).max(9).optional(),
    concurrencyKey: Name.optional(),
    idempotencyKey: Name.optional(),
  }),
  answers: {
    200: { description: 'There was such a run already.', schema: z.object({ id: Id, created: z.boolean() }) },
    201: { description: 'The run.', schema: z.object({ id: Id, created: z.boolean() }), headers: ['Location'] },
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
  summary: 'What happened to a run beyond what its row tells: retries, lost leases, refused results, oldest first.',
  scope: 'read',
  answers: {
    200: {
      description: 'Entries of the journal.',
      schema: z.object({ data: z.array(z.looseObject({ at: Instant, kind: z.string(), data: AnyJson })) }),
    },
  },
})

export const readLogs = operation({
  ...byId,
  id: 'readLogs',
  method: 'get',
  path: '/runs/{id}/logs',
  summary: 'What a run said, a JSON object a line; with accept: text/event-stream it is followed until the run ends.',
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
  summary: 'Cancel a run: a pending one, and one that was handed over, ends at once; any other is told to stop.',
  scope: 'operate',
  action: 'run.cancel',
  answers: { 200: One },
})

export const retryRun = operation({
  ...byId,
  id: 'retryRun',
  method: 'post',
  path: '/runs/{id}/retry',
  summary: 'Bring a failed run back with a new series of attempts.',
  scope: 'operate',
  action: 'run.retry',
  answers: { 200: One },
  refusals: ['NOT_FOUND', 'RUN_NOT_FAILED'],
})

export const completeRun = operation({
  ...byId,
  id: 'completeRun',
  method: 'post',
  path: '/runs/{id}/complete',
  summary:
    'End the present attempt of a running run from outside, by its fence or by the completion token of the attempt.',
  scope: 'operate',
  action: 'run.complete',
  body: z.strictObject({
    /** Not needed with a completion token, which names the attempt by itself. */
    fence: z.int().min(1).optional(),
    outcome: z.enum(['succeeded', 'failed']),
    result: AnyJson.optional(),
    error: z
      .strictObject({ name: z.string().min(1).max(200).optional(), message: z.string().min(1).max(8000) })
      .optional(),
    /** Whether a failed attempt is followed by another, as the run's retry policy has it; so it is when absent. */
    retry: z.boolean().optional(),
  }),
  answers: { 200: One },
  refusals: ['NOT_FOUND', 'LEASE_LOST'],
})
