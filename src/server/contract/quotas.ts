/** Quotas over HTTP: the limits of a workspace, and its usage. */
import { z } from 'zod'
import { QUOTA_NAMES } from '../../workspace/quotas.ts'
import { operation } from '../operation.ts'
import { component, Name } from './vocabulary.ts'

const QuotaBody = component(
  'Quota',
  z.object({
    quota: z.enum(QUOTA_NAMES),
    unit: z.enum(['count', 'ms', 'bytes']),
    /** Null: no limit. */
    limit: z.int().nullable(),
    /** Counted up to one above the limit; null for `smallestInterval`. Streams are counted on this server only. */
    used: z.int().nullable(),
    /** `keys`: the quota applies only to keys that are bound to the workspace. */
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
  summary: 'List the quotas of a workspace, with limit and usage.',
  query: z.strictObject({ workspace: Name.optional() }),
  answers: {
    200: {
      description: 'Every quota, as it applies to a key that is bound to the workspace.',
      schema: z.object({ workspace: z.string(), data: z.array(QuotaBody) }),
    },
  },
})
