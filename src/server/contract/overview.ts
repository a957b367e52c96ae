/** A summary of the fleet, or of one workspace. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { component, Instant, StoredName } from './vocabulary.ts'

/** Caps: the count of open alerts stops here, and further queues are left out. */
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
  summary: 'Summarize the last 24 hours and the current state.',
  resource: 'overview',
  scope: 'read',
  reach: 'workspace',
  query: z.strictObject({ workspace: StoredName.optional() }),
  answers: {
    200: {
      description: 'Sizes, counts, lateness, and the fleet if the caller may see it.',
      schema: component(
        'Overview',
        z.object({
          at: Instant,
          store: z.string(),
          /** Large numbers are estimates by the database. */
          sizes: z.object({
            schedules: z.int(),
            paused: z.int(),
            quarantined: z.int(),
            liveRuns: z.int(),
            finishedRuns: z.int(),
            estimated: z.boolean(),
          }),
          last24h: Counts,
          /** Share of runs that started within a second of their due time; null if no run started. */
          onTime: z.number().nullable(),
          lateness: z.object({
            p50Ms: z.number().nullable(),
            p95Ms: z.number().nullable(),
            p99Ms: z.number().nullable(),
          }),
          /** In steps of five minutes. */
          series: z.array(
            z.object({ at: Instant, succeeded: z.int(), failed: z.int(), skipped: z.int(), missed: z.int() }),
          ),
          /** Null for callers that are bound to one workspace. */
          fleet: z
            .object({
              workersAlive: z.int(),
              workers: z.int(),
              ready: z.int(),
              running: z.int(),
              oldestDueAt: Instant.nullable(),
              /** Queues with due runs; at most 100. */
              queuesWithoutWorkers: z.array(z.string()),
              /** At most 200. */
              openAlerts: z.int(),
            })
            .nullable(),
        }),
      ),
    },
  },
})
