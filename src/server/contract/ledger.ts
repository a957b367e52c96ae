/** The ledger over HTTP: whether every occurrence is accounted for once. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { component, Instant, InstantText, StoredName } from './vocabulary.ts'

const Occurrences = z.array(z.object({ workspace: z.string(), key: z.string(), at: Instant }))

export const readLedger = operation({
  id: 'readLedger',
  method: 'get',
  path: '/ledger',
  summary:
    'Whether every occurrence is accounted for once: lost, doubled and unexplained ones; of the last day unless asked otherwise.',
  resource: 'ledger',
  scope: 'read',
  reach: 'workspace',
  query: z.strictObject({
    workspace: StoredName.optional(),
    /** The key of one schedule, in the given workspace or in `default`. */
    schedule: StoredName.optional(),
    since: InstantText.optional(),
  }),
  answers: {
    200: {
      description:
        'expected = runs + nonRuns + lostCount. Of what is amiss, the first hundred are named and all are counted.',
      schema: component(
        'Ledger',
        z.object({
          /** Whether nothing is amiss. */
          ok: z.boolean(),
          from: Instant,
          to: Instant,
          schedules: z.int(),
          expected: z.int(),
          runs: z.int(),
          nonRuns: z.int(),
          backfills: z.int(),
          /** Not planned yet. */
          pending: z.int(),
          lost: Occurrences,
          lostCount: z.int(),
          doubled: Occurrences,
          doubledCount: z.int(),
          unexplained: Occurrences,
          unexplainedCount: z.int(),
          /** Schedules that this version cannot judge. */
          unreadable: z.array(z.string()),
          /** Spans in which a failover of the database may have lost what was acknowledged. */
          notes: z.array(z.object({ kind: z.literal('failover'), from: Instant, to: Instant })),
        }),
      ),
    },
  },
  refusals: ['SCHEDULE_NOT_FOUND', 'UNAVAILABLE'],
})
