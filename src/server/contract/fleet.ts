/** Queues, workers, jobs and locks over HTTP. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { AnyJson, component, DurationText, Instant, plainText, StoredName } from './vocabulary.ts'

const fleet = { reach: 'fleet', scope: 'read' } as const
const ByName = z.object({ name: StoredName })

export const QueueBody = component(
  'Queue',
  z.object({
    name: z.string(),
    globalConcurrency: z.int().nullable(),
    perWorkspace: z.int().nullable(),
    rateLimit: z.object({ limit: z.int(), per: z.string() }).nullable(),
    paused: z.object({ reason: z.string(), by: z.string(), at: Instant }).nullable(),
    ready: z.int(),
    running: z.int(),
    oldestDueAt: Instant.nullable(),
  }),
)
const queues = { ...fleet, resource: 'queues' } as const
const OneQueue = { description: 'The queue as it is now.', schema: QueueBody }

export const listQueues = operation({
  ...queues,
  id: 'listQueues',
  method: 'get',
  path: '/queues',
  summary: 'List queues by name: paused queues, and queues that have limits or runs.',
  answers: { 200: { description: 'Queues.', schema: z.object({ data: z.array(QueueBody) }) } },
})

export const pauseQueue = operation({
  ...queues,
  id: 'pauseQueue',
  method: 'post',
  path: '/queues/{name}/pause',
  summary: 'Pause a queue on all workers. Active runs continue.',
  scope: 'operate',
  action: 'queue.pause',
  recovery: 'repeat',
  params: ByName,
  body: z.strictObject({ reason: plainText(0, 500).optional() }),
  answers: { 200: OneQueue },
})

export const resumeQueue = operation({
  ...queues,
  id: 'resumeQueue',
  method: 'post',
  path: '/queues/{name}/resume',
  summary: 'Resume a queue.',
  scope: 'operate',
  action: 'queue.resume',
  recovery: 'repeat',
  params: ByName,
  answers: { 200: { description: 'Whether it was paused.', schema: z.object({ resumed: z.boolean() }) } },
})

export const limitQueue = operation({
  ...queues,
  id: 'limitQueue',
  method: 'put',
  path: '/queues/{name}/limits',
  summary: 'Set the limits of a queue for all processes. Limits that are left out are removed.',
  scope: 'operate',
  action: 'queue.limit',
  params: ByName,
  body: z.strictObject({
    globalConcurrency: z.int().min(1).max(1_000_000).optional(),
    perWorkspace: z.int().min(1).max(1_000_000).optional(),
    rateLimit: z.strictObject({ limit: z.int().min(1).max(1_000_000), per: DurationText }).optional(),
  }),
  answers: { 200: OneQueue },
})

const WorkerBody = component(
  'Worker',
  z.object({
    id: z.string(),
    host: z.string(),
    pid: z.int(),
    roles: z.array(z.string()),
    queues: z.record(z.string(), z.number()),
    tzdata: z.string(),
    busy: z.int(),
    startedAt: Instant,
    seenAt: Instant,
    alive: z.boolean(),
    draining: z.boolean(),
  }),
)
const workers = { ...fleet, resource: 'workers' } as const

export const listWorkers = operation({
  ...workers,
  id: 'listWorkers',
  method: 'get',
  path: '/workers',
  summary: 'List the processes that reported within the last hour.',
  answers: { 200: { description: 'Workers.', schema: z.object({ data: z.array(WorkerBody) }) } },
})

export const drainWorker = operation({
  ...workers,
  id: 'drainWorker',
  method: 'post',
  path: '/workers/{id}/drain',
  summary: 'Drain a worker: it claims no more runs, and finishes its active ones.',
  scope: 'operate',
  action: 'worker.drain',
  recovery: 'repeat',
  params: z.object({ id: plainText(1, 400) }),
  answers: {
    202: { description: 'The worker will drain.', schema: z.object({ id: z.string(), draining: z.literal(true) }) },
  },
  refusals: ['NOT_FOUND'],
})

export const listJobs = operation({
  id: 'listJobs',
  method: 'get',
  path: '/jobs',
  summary:
    'List the jobs of all processes, with the JSON Schema of their payloads where the schema library can export one.',
  resource: 'jobs',
  scope: 'read',
  reach: 'workspace',
  answers: {
    200: {
      description: 'Jobs.',
      schema: z.object({
        data: z.array(
          z.object({
            name: z.string(),
            queue: z.string(),
            priority: z.int(),
            attempts: z.int(),
            timeout: z.string(),
            takesPayload: z.boolean(),
            schema: AnyJson,
            /** Parts of payloads that no response shows. */
            redact: z.array(z.string()),
          }),
        ),
      }),
    },
  },
})

const LockBody = component(
  'Lock',
  z.object({
    name: z.string(),
    /** `user`: taken by app.locks.run(). `engine`: a lease of a background task. */
    kind: z.enum(['user', 'engine']),
    holder: z.string(),
    fence: z.int(),
    until: Instant,
  }),
)

export const listLocks = operation({
  ...fleet,
  id: 'listLocks',
  method: 'get',
  path: '/locks',
  summary: 'List locks and the leases of background tasks, with their holders and expiry times.',
  resource: 'locks',
  answers: {
    200: {
      description: 'Locks.',
      schema: z.object({
        data: z.array(LockBody),
      }),
    },
  },
})

export const releaseLock = operation({
  id: 'releaseLock',
  method: 'post',
  path: '/locks/{name}/release',
  summary: 'Release a lock by force. Its holder may continue until it next tries to renew the lock.',
  resource: 'locks',
  scope: 'admin',
  reach: 'fleet',
  action: 'lock.release',
  recovery: { look: 'see who holds the lock now: GET /locks' },
  params: z.strictObject({ name: StoredName }),
  body: z.strictObject({
    /** `user` by default. */
    kind: z.enum(['user', 'engine']).optional(),
    /** Release only if the lock still has this fence, so that a newer holder keeps it. */
    fence: z.int().min(1).optional(),
  }),
  answers: { 200: { description: 'The lock before its release.', schema: LockBody } },
  refusals: ['LOCK_NOT_FOUND', 'LOCK_HELD'],
})
