/** Quotas over HTTP: what a workspace may have at most, and what it uses of it. */
import { z } from 'zod'
import { QUOTA_NAMES } from '../../workspace/quotas.ts'
import { operation } from '../operation.ts'
import { component, Name } from './vocabulary.ts'

const QuotaBody = component(
  'Quota',
  z.object({
    quota: z.enum(QUOTA_NAMES),
    unit: z.enum(['count', 'ms', 'bytes']),
    /** Null: the quota is off. */
    limit: z.int().nullable(),
    /** Counted no further than one beyond the limit; null for `smallestInterval`. Streams are those of this server. */
    used: z.int().nullable(),
    /** `keys`: only keys that are bound to the workspace have it. */
    appliesTo: z.enum(['all', 'keys']),
  }),
)

export const listQuotas = operation({
  id: 'listQuotas',
  resource: 'quotas',
  reach: 'workspace',
  scope: 'read',
  method: 'get',
  path: '/quotas',
  summary: 'The quotas of a workspace: the limit of each, and how much is used.',
  query: z.strictObject({ workspace: Name.optional() }),
  answers: {
    200: {
      description: 'Every quota, as a key that is bound to the workspace has it.',
      schema: z.object({ workspace: z.string(), data: z.array(QuotaBody) }),
    },
  },
})
