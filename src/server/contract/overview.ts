/** A fleet, or one workspace of it, at a glance. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { component, Instant, StoredName } from './vocabulary.ts'

/** More open alerts are counted as so many, and more queues are not named. */
export const MAX_ALERTS = 200
export const MAX_QUEUES = 100

const Counts = z.object({
  succeeded: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  skipped: z.int(),
  missed: z.int(),
  attempts: z.int(),
  doubled: z.int(),
})

export const overview = operation({
  id: 'overview',
  method: 'get',
  path: '/overview',
  summary: 'The last 24 hours and the present at a glance.',
  resource: 'overview',
  scope: 'read',
  reach: 'workspace',
  query: z.strictObject({ workspace: StoredName.optional() }),
  answers: {
    200: {
      description: 'Sizes, counts, lateness, and the fleet where the caller may see it.',
      schema: component(
        'Overview',
        z.object({
          at: Instant,
          store: z.string(),
          /** Large ones are estimates of the database. */
          sizes: z.object({
            schedules: z.int(),
            paused: z.int(),
            quarantined: z.int(),
            liveRuns: z.int(),
            finishedRuns: z.int(),
            estimated: z.boolean(),
          }),
          last24h: Counts,
          /** Share of the runs that started within a second of being due; null when none started. */
          onTime: z.number().nullable(),
          lateness: z.object({
            p50Ms: z.number().nullable(),
            p95Ms: z.number().nullable(),
            p99Ms: z.number().nullable(),
          }),
          /** By stretches of five minutes. */
          series: z.array(
            z.object({ at: Instant, succeeded: z.int(), failed: z.int(), skipped: z.int(), missed: z.int() }),
          ),
          /** Null for those who see one workspace only. */
          fleet: z
            .object({
              workersAlive: z.int(),
              workers: z.int(),
              ready: z.int(),
              running: z.int(),
              oldestDueAt: Instant.nullable(),
              /** In which something waits; at most 100. */
              queuesWithoutWorkers: z.array(z.string()),
              /** 200 at most. */
              openAlerts: z.int(),
            })
            .nullable(),
        }),
      ),
    },
  },
})
