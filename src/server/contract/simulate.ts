/** A schedule lived through on paper, over HTTP: what its policies make of an outage and of work that takes long. */
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
  summary: 'Live through a stretch of time with a schedule, outages and work of some length; nothing is saved.',
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
        /** Now when absent. */
        from: InstantText.optional(),
        /** 24 hours later when absent. */
        to: InstantText.optional(),
        outages: z.array(Outage).max(100).optional(),
        /** How long the work takes, always or run after run; no time at all when absent. */
        durations: z.union([DurationText, z.array(DurationText).min(1).max(100)], { error: durationError }).optional(),
      }),
    ),
  ),
  answers: {
    200: {
      description: 'One entry per occurrence, in order; at most 10,000.',
      schema: z.object({
        from: Instant,
        /** Earlier than asked for where there were too many occurrences. */
        to: Instant,
        truncated: z.boolean(),
        /** How many occurrences ended how. */
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
