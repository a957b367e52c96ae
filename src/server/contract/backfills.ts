/** A single backfill over HTTP: how far it is, and ending it early. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { ById, component, Id, Instant } from './vocabulary.ts'

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
  answers: { 200: One },
})
