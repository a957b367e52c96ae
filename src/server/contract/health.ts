/** Whether the server lives and can work, for those who start and stop it. */
import { z } from 'zod'
import { operation } from '../operation.ts'

const open = { resource: 'health', method: 'get', scope: 'none', reach: 'workspace', withoutStore: true } as const

export const healthz = operation({
  ...open,
  id: 'healthz',
  path: '/healthz',
  summary: 'Whether the process lives; asks nothing of the database.',
  answers: { 200: { description: 'It does.', schema: z.object({ status: z.literal('ok') }) } },
})

export const readyz = operation({
  ...open,
  id: 'readyz',
  path: '/readyz',
  summary: 'Whether the database answers, so that requests can be sent here.',
  answers: { 200: { description: 'It does.', schema: z.object({ status: z.literal('ready') }) } },
  refusals: ['UNAVAILABLE'],
})
