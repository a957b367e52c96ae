/** Retention on demand over HTTP. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { component, DurationText } from './vocabulary.ts'

const Kept = z.object({
  history: z.string(),
  journal: z.string(),
  idempotency: z.string(),
  orphans: z.string(),
  endedSchedules: z.string(),
})

export const runCleanup = operation({
  id: 'runCleanup',
  method: 'post',
  path: '/cleanup',
  summary: 'Remove some of what is older than its retention, or count it; ask again while there is more.',
  resource: 'health',
  scope: 'admin',
  reach: 'fleet',
  action: 'cleanup.run',
  recovery: 'repeat',
  body: z.strictObject({
    dryRun: z.boolean().optional(),
    /** In place of what the server has; what is not named stays. */
    retention: z
      .strictObject({
        history: DurationText.optional(),
        journal: DurationText.optional(),
        idempotency: DurationText.optional(),
        orphans: DurationText.optional(),
        /** A duration, or off. */
        endedSchedules: DurationText.optional(),
      })
      .optional(),
  }),
  answers: {
    200: {
      description: 'What was removed, or would be.',
      schema: component(
        'Cleanup',
        z.object({
          dryRun: z.boolean(),
          removed: z.int(),
          /** By kind, such as runs, journal or logs. */
          counts: z.record(z.string(), z.int()),
          more: z.boolean(),
          /** How long each is kept, as it was applied. */
          retention: Kept,
        }),
      ),
    },
  },
})
