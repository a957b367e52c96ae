/** Backfills over HTTP: list, progress, cancel. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { ById, component, Id, IdBeginning, Instant, PAGE, pageOf, StoredName } from './vocabulary.ts'

export const BackfillBody = component(
  'Backfill',
  z.looseObject({
    id: Id,
    schedule: z.string(),
    state: z.string(),
    from: Instant,
    to: Instant,
    done: z.int(),
    total: z.int(),
    createdAt: Instant,
    finishedAt: Instant.nullable(),
  }),
)

const byId = { resource: 'backfills', reach: 'workspace', params: ById, refusals: ['NOT_FOUND'] } as const
const One = { description: 'The progress of the backfill.', schema: BackfillBody }

export const listAllBackfills = operation({
  id: 'listAllBackfills',
  method: 'get',
  path: '/backfills',
  summary: 'List backfills of all schedules, newest first.',
  resource: 'backfills',
  scope: 'read',
  reach: 'workspace',
  query: z.strictObject({
    /** An id, or the beginning of one. */
    id: IdBeginning.optional(),
    workspace: StoredName.optional(),
    ...PAGE,
  }),
  answers: { 200: { description: 'A page of backfills.', schema: pageOf(BackfillBody) } },
  refusals: ['CURSOR_INVALID'],
})

export const getBackfill = operation({
  ...byId,
  id: 'getBackfill',
  method: 'get',
  path: '/backfills/{id}',
  summary: 'Get a backfill with its progress.',
  scope: 'read',
  answers: { 200: One },
})

export const cancelBackfill = operation({
  ...byId,
  id: 'cancelBackfill',
  method: 'post',
  path: '/backfills/{id}/cancel',
  summary: 'Cancel a backfill: it creates no more runs, and its unfinished runs are cancelled.',
  scope: 'operate',
  action: 'backfill.cancel',
  recovery: 'repeat',
  answers: { 200: One },
})
