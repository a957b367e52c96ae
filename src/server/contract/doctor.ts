/** What is well and what is wrong with the fleet and its database, over HTTP. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { component, Instant } from './vocabulary.ts'

export const readDoctor = operation({
  id: 'readDoctor',
  method: 'get',
  path: '/doctor',
  summary: 'Look at schema, clocks, planner, queues and database, and say what is wrong and what mends it.',
  resource: 'health',
  scope: 'admin',
  reach: 'fleet',
  answers: {
    200: {
      description: 'Findings in a fixed order of checks; healthy when none of them is wrong.',
      schema: component(
        'Diagnosis',
        z.object({
          asOf: Instant,
          store: z.string(),
          healthy: z.boolean(),
          findings: z.array(
            z.object({
              check: z.string(),
              level: z.enum(['ok', 'warning', 'wrong']),
              text: z.string(),
              /** A command, or what to do. */
              fix: z.string().nullable(),
            }),
          ),
        }),
      ),
    },
  },
  refusals: ['UNAVAILABLE'],
})
