/** A single backfill over HTTP: how far it is, and ending it early. */
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
const One = { description: 'How far it is.', schema: BackfillBody }

export const listAllBackfills = operation({
  id: 'listAllBackfills',
  method: 'get',
  path: '/backfills',
  summary: 'List backfills of all schedules, newest first.',
  resource: 'backfills',
  scope: 'read',
  reach: 'workspace',
  query: z.strictObject({
    /** The beginning of an id, or all of it. */
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
  summary: 'How far a backfill is.',
  scope: 'read',
  answers: { 200: One },
})

export const cancelBackfill = operation({
  ...byId,
  id: 'cancelBackfill',
  method: 'post',
  path: '/backfills/{id}/cancel',
  summary: 'Make no more runs of a backfill, and cancel those that have not ended.',
  scope: 'operate',
  action: 'backfill.cancel',
  recovery: 'repeat',
  answers: { 200: One },
})
