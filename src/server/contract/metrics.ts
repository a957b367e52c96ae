/** Metrics over HTTP: text for Prometheus about this process and the whole fleet; which figures there are is `metrics/`. */
import { z } from 'zod'
import { operation } from '../operation.ts'

export const getMetrics = operation({
  id: 'getMetrics',
  method: 'get',
  path: '/metrics',
  summary: 'Figures of this process and of the fleet, in the text format of Prometheus.',
  resource: 'metrics',
  scope: 'read',
  reach: 'fleet',
  withoutStore: true,
  answers: { 200: { description: 'the figures', schema: z.string(), mediaType: 'text/plain' } },
})
