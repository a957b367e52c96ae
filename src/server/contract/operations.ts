/** Bulk operations over HTTP: any node executes them in the background, with progress. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import {
  ById,
  component,
  DurationText,
  Id,
  IdBeginning,
  Instant,
  PAGE,
  pageOf,
  plainText,
  StoredName,
} from './vocabulary.ts'

const resource = 'operations'
const byId = { resource, reach: 'workspace', params: ById, refusals: ['NOT_FOUND'] } as const

const Schedules = z.strictObject({
  workspace: StoredName.optional(),
  job: StoredName.optional(),
  tag: StoredName.optional(),
  source: z.enum(['api', 'code']).optional(),
  paused: z.boolean().optional(),
  text: plainText(1, 200).optional(),
  /** Everything that the caller may see; only without other filters. */
  all: z.literal(true).optional(),
})
const Runs = z.strictObject({
  workspace: StoredName.optional(),
  scheduleId: Id.optional(),
  job: StoredName.optional(),
  queue: StoredName.optional(),
  all: z.literal(true).optional(),
})
export const BulkWork = component(
  'BulkWork',
  z.discriminatedUnion('action', [
    z.strictObject({ action: z.literal('schedules.pause'), filter: Schedules, reason: plainText(0, 500).optional() }),
    z.strictObject({
      action: z.literal('schedules.resume'),
      filter: Schedules,
      from: z.enum(['now', 'catchUp']).optional(),
    }),
    z.strictObject({ action: z.literal('schedules.trigger'), filter: Schedules }),
    z.strictObject({ action: z.literal('schedules.jitter'), filter: Schedules, jitter: DurationText }),
    z.strictObject({ action: z.literal('schedules.remove'), filter: Schedules }),
    z.strictObject({ action: z.literal('runs.cancel'), filter: Runs }),
    z.strictObject({ action: z.literal('runs.retry'), filter: Runs }),
  ]),
)
export type Bulk = z.output<typeof BulkWork>

const OperationBody = component(
  'Operation',
  z.object({
    id: Id,
    workspace: z.string(),
    state: z.enum(['running', 'done', 'cancelled']),
    work: z.looseObject({ action: z.string() }),
    by: z.string(),
    /** How many items are done so far. */
    done: z.int(),
    failed: z.int(),
    /** The first few failures. */
    errors: z.array(z.object({ target: z.string(), message: z.string() })),
    createdAt: Instant,
    finishedAt: Instant.nullable(),
  }),
)
const One = { description: 'The progress of the operation.', schema: OperationBody }

export const createOperation = operation({
  id: 'createOperation',
  method: 'post',
  path: '/operations',
  summary: 'Start a bulk operation on many schedules or runs, in the background.',
  resource,
  scope: 'operate',
  reach: 'workspace',
  action: 'operation.create',
  recovery: 'repeat',
  body: BulkWork,
  answers: { 202: { ...One, headers: ['Location'] } },
})

export const listOperations = operation({
  id: 'listOperations',
  method: 'get',
  path: '/operations',
  summary: 'List bulk operations, newest first.',
  resource,
  scope: 'read',
  reach: 'workspace',
  query: z.strictObject({
    /** An id, or the beginning of one. */
    id: IdBeginning.optional(),
    state: z.enum(['running', 'done', 'cancelled']).optional(),
    ...PAGE,
  }),
  answers: { 200: { description: 'A page of operations.', schema: pageOf(OperationBody) } },
  refusals: ['CURSOR_INVALID'],
})

export const getOperation = operation({
  ...byId,
  id: 'getOperation',
  method: 'get',
  path: '/operations/{id}',
  summary: 'Get a bulk operation with its progress.',
  scope: 'read',
  answers: { 200: One },
})

export const cancelOperation = operation({
  ...byId,
  id: 'cancelOperation',
  method: 'post',
  path: '/operations/{id}/cancel',
  summary: 'Cancel a bulk operation. Changes that it has made stay.',
  scope: 'operate',
  action: 'operation.cancel',
  recovery: 'repeat',
  answers: { 200: One },
})
