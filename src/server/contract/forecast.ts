/** The forecast over HTTP: fires per bucket, spikes, and the effects of the next clock changes. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { component, DurationText, Instant, InstantText, StoredName } from './vocabulary.ts'

const forecast = { method: 'get', resource: 'forecast', scope: 'read', reach: 'workspace' } as const
const Sample = z.object({ workspace: z.string(), key: z.string() })
/** When the forecast was computed, and the period it covers. */
const MADE = { asOf: Instant, from: Instant, to: Instant }

export const readForecast = operation({
  ...forecast,
  id: 'readForecast',
  path: '/forecast',
  summary: 'Forecast fires and their work per bucket. By default the next 24 hours in buckets of 5 minutes.',
  query: z.strictObject({
    workspace: StoredName.optional(),
    from: InstantText.optional(),
    to: InstantText.optional(),
    bucket: DurationText.optional(),
  }),
  answers: {
    200: {
      description: 'Buckets in order. Usually at most a minute old; asOf is the time it was computed.',
      schema: component(
        'Forecast',
        z.object({
          ...MADE,
          bucket: z.string(),
          /** How many runs the fleet can execute at once; null in the forecast of one workspace. */
          slots: z.int().nullable(),
          data: z.array(
            z.object({
              at: Instant,
              fires: z.int(),
              workSeconds: z.number(),
              /** How many seconds of work the fleet can do in the bucket. */
              capacity: z.number().nullable(),
              top: z.array(z.object({ job: z.string(), fires: z.int() })),
            }),
          ),
        }),
      ),
    },
  },
  refusals: ['UNAVAILABLE'],
})

export const readSpikes = operation({
  ...forecast,
  id: 'readSpikes',
  path: '/forecast/spikes',
  summary: 'Find seconds of the next 24 hours with far more fires than usual, with a proposed jitter.',
  query: z.strictObject({ workspace: StoredName.optional() }),
  answers: {
    200: {
      description: 'At most 20, the largest first.',
      schema: component(
        'Herds',
        z.object({
          ...MADE,
          data: z.array(
            z.object({
              at: Instant,
              fires: z.int(),
              /** How long the fleet needs to execute them; null without workers, and for one workspace. */
              drainSeconds: z.int().nullable(),
              proposal: z.object({ jitter: z.string(), maxFiresAfter: z.int() }).nullable(),
              top: z.array(z.object({ job: z.string(), fires: z.int(), sample: Sample })),
            }),
          ),
        }),
      ),
    },
  },
  refusals: ['UNAVAILABLE'],
})

export const readClockChanges = operation({
  ...forecast,
  id: 'readClockChanges',
  path: '/forecast/clock-changes',
  summary: 'List the clock changes of the next year, and which schedules they skip, shift, repeat or move in UTC.',
  query: z.strictObject({ workspace: StoredName.optional() }),
  answers: {
    200: {
      description: 'One entry for each change, zone and effect, in order.',
      schema: component(
        'ClockChanges',
        z.object({
          ...MADE,
          data: z.array(
            z.object({
              at: Instant,
              zone: z.string(),
              effect: z.enum(['skipped', 'shifted', 'repeated', 'moved_in_utc']),
              schedules: z.int(),
              samples: z.array(Sample),
            }),
          ),
        }),
      ),
    },
  },
  refusals: ['UNAVAILABLE'],
})
