/** The audit log over HTTP: who changed what, and whether the chain of its hashes still holds. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { AnyJson, component, Instant, Name, PAGE, pageOf, queryInclude } from './vocabulary.ts'

const resource = 'audit'

const Entry = component(
  'AuditEntry',
  z.object({
    seq: z.int(),
    at: Instant,
    workspace: z.string(),
    actor: z.string(),
    action: z.string(),
    target: z.string(),
    before: AnyJson,
    after: AnyJson,
    origin: AnyJson,
    previousHash: z.string(),
    hash: z.string(),
  }),
)

export const listAudit = operation({
  id: 'listAudit',
  method: 'get',
  path: '/audit',
  summary: 'The audit log, newest first: every change over HTTP, with who, what, before, after and from where.',
  resource,
  scope: 'admin',
  reach: 'workspace',
  query: z.strictObject({ workspace: Name.optional(), include: queryInclude(['payload']), ...PAGE }),
  answers: { 200: { description: 'A page of entries.', schema: pageOf(Entry) } },
  refusals: ['CURSOR_INVALID'],
})

export const verifyAudit = operation({
  id: 'verifyAudit',
  method: 'get',
  path: '/audit/verify',
  summary: 'Walk the chain of hashes and say where it breaks, if it does.',
  resource,
  scope: 'admin',
  reach: 'fleet',
  answers: {
    200: {
      description: 'How many entries, and the first that does not fit.',
      schema: z.object({ entries: z.int(), brokenAt: z.int().nullable() }),
    },
  },
})
