/** Metrics over HTTP in the Prometheus text format; `metrics/` defines them. */
import { z } from 'zod'
import { operation } from '../operation.ts'

export const getMetrics = operation({
  id: 'getMetrics',
  method: 'get',
  path: '/metrics',
  summary: 'Get the metrics of this process and of the fleet, in the Prometheus text format.',
  resource: 'metrics',
  scope: 'read',
  reach: 'fleet',
  withoutStore: true,
  answers: { 200: { description: 'The metrics.', schema: z.string(), mediaType: 'text/plain' } },
})
