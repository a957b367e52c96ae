/** What is to come, over HTTP: fires by bucket, spikes, and what the next clock changes do. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { component, DurationText, Instant, InstantText, StoredName } from './vocabulary.ts'

const forecast = { method: 'get', resource: 'forecast', scope: 'read', reach: 'workspace' } as const
const Sample = z.object({ workspace: z.string(), key: z.string() })
/** How old an answer is, and for when it speaks. */
const MADE = { asOf: Instant, from: Instant, to: Instant }

export const readForecast = operation({
  ...forecast,
  id: 'readForecast',
  path: '/forecast',
  summary: 'Fires to come by bucket, with the work they bring; the next 24 hours by 5 minutes unless asked otherwise.',
  query: z.strictObject({
    workspace: StoredName.optional(),
    from: InstantText.optional(),
    to: InstantText.optional(),
    bucket: DurationText.optional(),
  }),
  answers: {
    200: {
      description: 'Buckets in order. A minute old at most, as a rule; asOf says when it was computed.',
      schema: component(
        'Forecast',
        z.object({
          ...MADE,
          bucket: z.string(),
          /** How many runs the fleet works on at once; null in the forecast of one workspace. */
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
  summary: 'Seconds of the next 24 hours in which far more fires than usual come together, with a proposed jitter.',
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
              /** How long the fleet works on them; null when nobody works, and for one workspace. */
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
  summary: 'Clock changes of the next year, and which schedules they skip, shift, repeat or move in UTC.',
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
