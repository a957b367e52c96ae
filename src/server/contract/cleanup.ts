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
  summary: 'Delete a batch of data past its retention, or count it with dryRun. Repeat while more is true.',
  resource: 'health',
  scope: 'admin',
  reach: 'fleet',
  action: 'cleanup.run',
  recovery: 'repeat',
  body: z.strictObject({
    dryRun: z.boolean().optional(),
    /** Overrides the server's retention; periods that are left out stay as configured. */
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
      description: 'What was deleted, or would be with dryRun.',
      schema: component(
        'Cleanup',
        z.object({
          dryRun: z.boolean(),
          removed: z.int(),
          /** By kind, such as runs, journal or logs. */
          counts: z.record(z.string(), z.int()),
          more: z.boolean(),
          /** The retention periods that were applied. */
          retention: Kept,
        }),
      ),
    },
  },
})
