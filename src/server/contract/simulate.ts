/** Simulates a schedule over HTTP: the effect of its policies on outages and long runs. */
import { z } from 'zod'
import { withAliases } from '../aliases.ts'
import { operation } from '../operation.ts'
import { POLICIES, TIMING } from './schedule-shape.ts'
import { component, DurationText, durationError, Instant, InstantText, Name, WARNED } from './vocabulary.ts'

const Outage = z.strictObject({ from: InstantText, to: InstantText })

export const simulateSchedule = operation({
  id: 'simulateSchedule',
  method: 'post',
  path: '/simulate',
  summary: 'Simulate a schedule over a period, with outages and run durations. Nothing is saved.',
  resource: 'simulate',
  scope: 'read',
  reach: 'workspace',
  body: component(
    'Simulation',
    withAliases(
      z.strictObject({
        ...TIMING,
        ...POLICIES,
        key: Name.optional(),
        workspace: Name.optional(),
        /** Default: now. */
        from: InstantText.optional(),
        /** Default: 24 hours after `from`. */
        to: InstantText.optional(),
        outages: z.array(Outage).max(100).optional(),
        /** The duration of every run, or of one run after another. Default: no time. */
        durations: z.union([DurationText, z.array(DurationText).min(1).max(100)], { error: durationError }).optional(),
      }),
    ),
  ),
  answers: {
    200: {
      description: 'One entry per occurrence, in order; at most 10,000.',
      schema: z.object({
        from: Instant,
        /** Earlier than requested if there were too many occurrences. */
        to: Instant,
        truncated: z.boolean(),
        /** The number of occurrences per outcome. */
        outcomes: z.record(z.string(), z.int()),
        entries: z.array(
          z.object({
            scheduledAt: Instant,
            dueAt: Instant,
            startedAt: Instant.nullable(),
            finishedAt: Instant.nullable(),
            outcome: z.enum(['ran', 'caught_up', 'skipped', 'missed', 'cancelled', 'failed', 'running', 'waiting']),
            reason: z.string().nullable(),
            attempts: z.int(),
          }),
        ),
        ...WARNED,
      }),
    },
  },
})
