/** The health check of the fleet and its database over HTTP. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { component, Instant } from './vocabulary.ts'

export const readDoctor = operation({
  id: 'readDoctor',
  method: 'get',
  path: '/doctor',
  summary: 'Check schema, clocks, planner, queues and database, and return the problems with their fixes.',
  resource: 'health',
  scope: 'admin',
  reach: 'fleet',
  answers: {
    200: {
      description: 'Findings, in a fixed order of checks; healthy if no finding has level wrong.',
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
