/** Previews what storing schedules would change. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { NewSchedule } from './schedule-shape.ts'
import { component, Instant, WARNED } from './vocabulary.ts'

const Fields = z.looseObject({}).nullable()

export const previewSchedules = operation({
  id: 'previewSchedules',
  method: 'post',
  path: '/preview',
  summary:
    'Preview what storing up to 100 schedules would change. Fails where storing them would fail. Nothing is saved.',
  resource: 'preview',
  scope: 'operate',
  reach: 'workspace',
  body: z.strictObject({ schedules: z.array(NewSchedule).min(1).max(100) }),
  answers: {
    200: {
      description: 'One entry per schedule, in the same order.',
      schema: z.object({
        data: z.array(
          component(
            'Rehearsal',
            z.object({
              workspace: z.string(),
              key: z.string(),
              action: z.enum(['create', 'update', 'none']),
              /** Only the fields that differ. */
              before: Fields,
              after: Fields,
              /** Who paused the schedule and why; it stays paused. */
              paused: z.string().nullable(),
              nextFireAt: z.object({ before: Instant.nullable(), after: Instant.nullable() }),
            }),
          ),
        ),
        ...WARNED,
      }),
    },
  },
})
