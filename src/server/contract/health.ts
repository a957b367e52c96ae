/** Liveness and readiness probes. */
import { z } from 'zod'
import { operation } from '../operation.ts'

const open = { resource: 'health', method: 'get', scope: 'none', reach: 'workspace', withoutStore: true } as const

export const healthz = operation({
  ...open,
  id: 'healthz',
  path: '/healthz',
  summary: 'Liveness probe: the process runs. Does not query the database.',
  answers: { 200: { description: 'The process runs.', schema: z.object({ status: z.literal('ok') }) } },
})

export const readyz = operation({
  ...open,
  id: 'readyz',
  path: '/readyz',
  summary: 'Readiness probe: the database responds, so the server can take requests.',
  answers: { 200: { description: 'The database responds.', schema: z.object({ status: z.literal('ready') }) } },
  refusals: ['UNAVAILABLE'],
})
