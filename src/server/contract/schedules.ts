/** The operations on schedules over HTTP; their shape is `schedule-shape.ts`. */
import { z } from 'zod'
import { withAliases } from '../aliases.ts'
import { operation } from '../operation.ts'
import { BackfillBody } from './backfills.ts'
import { Changes, Definition, NewSchedule, ScheduleBody } from './schedule-shape.ts'
import {
  AnyJson,
  ById,
  Id,
  Instant,
  InstantText,
  PAGE,
  pageOf,
  plainText,
  queryBoolean,
  queryInclude,
  queryInteger,
  StoredName,
  WARNED,
} from './vocabulary.ts'

const resource = 'schedules'

const One = { description: 'The schedule as it is now.', schema: ScheduleBody, headers: ['ETag'] }
const byId = { params: ById, resource, reach: 'workspace' } as const

export const listSchedules = operation({
  id: 'listSchedules',
  method: 'get',
  path: '/schedules',
  summary: 'List schedules, sorted by workspace and key. A page may be short although more follow: use page.next.',
  resource,
  scope: 'read',
  reach: 'workspace',
  query: withAliases(
    z.strictObject({
      q: plainText(1, 200).optional(),
      workspace: StoredName.optional(),
      job: StoredName.optional(),
      tag: StoredName.optional(),
      source: z.enum(['api', 'code']).optional(),
      enabled: queryBoolean.optional(),
      health: z.enum(['overdue', 'quarantined', 'paused']).optional(),
      /** How many of the newest runs of each schedule to include. */
      last: queryInteger(1, 20).optional(),
      include: queryInclude(['payload']),
      ...PAGE,
    }),
  ),
  answers: { 200: { description: 'A page of schedules.', schema: pageOf(ScheduleBody) } },
  refusals: ['CURSOR_INVALID'],
})

export const createSchedule = operation({
  id: 'createSchedule',
  method: 'post',
  path: '/schedules',
  summary: 'Create a schedule. Fails if its workspace already has a schedule with this key.',
  resource,
  scope: 'operate',
  reach: 'workspace',
  action: 'schedule.create',
  recovery: 'repeat',
  body: NewSchedule,
  answers: {
    201: { ...One, description: 'The new schedule, with warnings.', headers: ['Location', 'ETag'] },
  },
  refusals: ['SCHEDULE_EXISTS', 'PRECONDITION_FAILED'],
})

export const putSchedule = operation({
  id: 'putSchedule',
  method: 'put',
  path: '/schedules/by-key/{workspace}/{key}',
  summary: 'Create or replace a schedule by workspace and key. Idempotent.',
  resource,
  scope: 'operate',
  reach: 'workspace',
  action: 'schedule.put',
  params: z.object({ workspace: StoredName, key: StoredName }),
  body: Definition,
  answers: { 200: One, 201: { ...One, description: 'The new schedule.' } },
  refusals: ['PRECONDITION_FAILED'],
})

export const getScheduleByKey = operation({
  id: 'getScheduleByKey',
  method: 'get',
  path: '/schedules/by-key/{workspace}/{key}',
  summary: 'Get a schedule by workspace and key.',
  resource,
  scope: 'read',
  reach: 'workspace',
  params: z.object({ workspace: StoredName, key: StoredName }),
  answers: { 200: One },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const getSchedule = operation({
  ...byId,
  id: 'getSchedule',
  method: 'get',
  path: '/schedules/{id}',
  summary: 'Get a schedule.',
  scope: 'read',
  answers: { 200: One },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const patchSchedule = operation({
  ...byId,
  id: 'patchSchedule',
  method: 'patch',
  path: '/schedules/{id}',
  summary: 'Change the given fields; null removes a field. With If-Match, only if the schedule still has that ETag.',
  scope: 'operate',
  action: 'schedule.edit',
  body: Changes,
  answers: { 200: One },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const deleteSchedule = operation({
  ...byId,
  id: 'deleteSchedule',
  method: 'delete',
  path: '/schedules/{id}',
  summary: 'Remove a schedule and its future runs. Runs that are already due or running continue.',
  scope: 'operate',
  action: 'schedule.remove',
  answers: { 204: { description: 'Removed.' } },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const pauseSchedule = operation({
  ...byId,
  id: 'pauseSchedule',
  method: 'post',
  path: '/schedules/{id}/pause',
  summary: 'Pause a schedule, indefinitely or until an instant. Runs that are already due or running continue.',
  scope: 'operate',
  action: 'schedule.pause',
  recovery: 'repeat',
  body: z.strictObject({ reason: plainText(0, 500).optional(), until: InstantText.optional() }),
  answers: { 200: One },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const resumeSchedule = operation({
  ...byId,
  id: 'resumeSchedule',
  method: 'post',
  path: '/schedules/{id}/resume',
  summary: 'Resume a schedule. Occurrences during the pause are skipped, or handled by the catch-up policy.',
  scope: 'operate',
  action: 'schedule.resume',
  recovery: 'repeat',
  body: z.strictObject({ from: z.enum(['now', 'catchUp']).optional() }),
  answers: { 200: One },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const triggerSchedule = operation({
  ...byId,
  id: 'triggerSchedule',
  method: 'post',
  path: '/schedules/{id}/trigger',
  summary: 'Create one run now, in addition to the regular occurrences.',
  scope: 'operate',
  action: 'schedule.trigger',
  recovery: 'repeat',
  body: z.strictObject({ payload: AnyJson.optional(), overlap: z.enum(['queue', 'allow']).optional() }),
  answers: {
    202: {
      description: 'The run.',
      schema: z.object({ id: Id, created: z.boolean(), ...WARNED }),
      headers: ['Location'],
    },
  },
  refusals: ['NOT_FOUND'],
})

export const createBackfill = operation({
  ...byId,
  id: 'createBackfill',
  method: 'post',
  path: '/schedules/{id}/backfills',
  summary: 'Run past occurrences of a schedule in the background. With dryRun, only count them.',
  scope: 'operate',
  action: 'schedule.backfill',
  recovery: 'repeat',
  body: z.strictObject({
    from: InstantText,
    to: InstantText,
    concurrency: z.int().min(1).max(1000).optional(),
    force: z.boolean().optional(),
    payload: AnyJson.optional(),
    dryRun: z.boolean().optional(),
  }),
  answers: {
    200: {
      description: 'What the backfill would do (dryRun).',
      schema: z.looseObject({ id: z.null(), total: z.int(), toRun: z.int(), kept: z.int() }),
    },
    202: {
      description: 'The backfill has started.',
      schema: z.looseObject({ id: Id, total: z.int(), toRun: z.int(), kept: z.int() }),
      headers: ['Location'],
    },
  },
  refusals: ['NOT_FOUND'],
})

export const listBackfills = operation({
  ...byId,
  id: 'listBackfills',
  method: 'get',
  path: '/schedules/{id}/backfills',
  summary: 'List the backfills of a schedule, newest first, at most 50.',
  scope: 'read',
  answers: { 200: { description: 'Backfills.', schema: z.object({ data: z.array(BackfillBody) }) } },
  refusals: ['NOT_FOUND'],
})

export const nextOccurrences = operation({
  ...byId,
  id: 'nextOccurrences',
  method: 'get',
  path: '/schedules/{id}/next',
  summary: 'List the next occurrences, computed from the definition alone.',
  scope: 'read',
  query: z.strictObject({ n: queryInteger(1, 1000).optional(), from: InstantText.optional() }),
  answers: {
    200: {
      description: 'Nominal and due instants.',
      schema: z.object({ data: z.array(z.object({ scheduledAt: Instant, dueAt: Instant })) }),
    },
  },
  refusals: ['NOT_FOUND'],
})

export const whySchedule = operation({
  ...byId,
  id: 'whySchedule',
  method: 'get',
  path: '/schedules/{id}/why',
  summary: 'Explain what happened to an occurrence, check by check.',
  scope: 'read',
  query: z.strictObject({ at: InstantText }),
  answers: {
    200: {
      description: 'Verdict and checks.',
      schema: z.looseObject({ at: Instant, slot: Instant.nullable(), checks: z.array(z.looseObject({})) }),
    },
  },
  refusals: ['NOT_FOUND'],
})

export const listRevisions = operation({
  ...byId,
  id: 'listRevisions',
  method: 'get',
  path: '/schedules/{id}/revisions',
  summary: 'List the changes of a schedule, oldest first: who, when, before and after.',
  scope: 'read',
  query: z.strictObject({ include: queryInclude(['payload']), ...PAGE }),
  answers: {
    200: {
      description: 'A page of revisions.',
      schema: pageOf(z.looseObject({ revision: z.int(), at: Instant, by: z.string() })),
    },
  },
  refusals: ['NOT_FOUND', 'CURSOR_INVALID'],
})
