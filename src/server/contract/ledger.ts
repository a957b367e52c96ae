/** The ledger over HTTP: audits whether each occurrence became one run or one recorded non-run. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { component, Instant, InstantText, StoredName } from './vocabulary.ts'

const Occurrences = z.array(z.object({ workspace: z.string(), key: z.string(), at: Instant }))

export const readLedger = operation({
  id: 'readLedger',
  method: 'get',
  path: '/ledger',
  summary:
    'Audit whether each occurrence became one run or non-run: lists lost, doubled and unexplained ones. By default of the last day.',
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
        'expected = runs + nonRuns + lostCount. The lists have at most the first hundred; the counts are complete.',
      schema: component(
        'Ledger',
        z.object({
          /** Whether no problem was found. */
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
          /** Schedules that this version cannot read. */
          unreadable: z.array(z.string()),
          /** Periods in which a database failover may have lost acknowledged writes. */
          notes: z.array(z.object({ kind: z.literal('failover'), from: Instant, to: Instant })),
        }),
      ),
    },
  },
  refusals: ['SCHEDULE_NOT_FOUND', 'UNAVAILABLE'],
})
