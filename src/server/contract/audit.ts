/** The audit log over HTTP: who changed what, and whether the chain of its hashes still holds. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { AnyJson, component, Instant, PAGE, pageOf, queryInclude, StoredName } from './vocabulary.ts'

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
  query: z.strictObject({ workspace: StoredName.optional(), include: queryInclude(['payload']), ...PAGE }),
  answers: { 200: { description: 'A page of entries.', schema: pageOf(Entry) } },
  refusals: ['CURSOR_INVALID'],
})

const Head = component(
  'AuditHead',
  z.object({
    /** The number of the newest entry; 0 while there is none. */
    entries: z.int(),
    at: Instant.nullable(),
    /** Of the newest entry, and so of the whole chain; 64 zeros while there is none. */
    hash: z.string(),
  }),
)

/** All of a hash, or its beginning. */
const Expected = z
  .string()
  .regex(/^[0-9a-fA-F]{12,64}$/, 'is not a hash: 64 hexadecimal digits, or the first 12 or more')

export const getAuditHead = operation({
  id: 'getAuditHead',
  method: 'get',
  path: '/audit/head',
  summary: 'The newest hash of the audit log, to be kept elsewhere: with it a log whose end was cut off shows.',
  resource,
  scope: 'read',
  reach: 'fleet',
  answers: { 200: { description: 'The newest entry.', schema: Head } },
})

export const verifyAudit = operation({
  id: 'verifyAudit',
  method: 'get',
  path: '/audit/verify',
  summary:
    'Walk the chain of hashes and say where it breaks, if it does, and whether it still holds a hash that was kept.',
  resource,
  scope: 'admin',
  reach: 'fleet',
  query: z.strictObject({ expect: Expected.optional() }),
  answers: {
    200: {
      description: 'How many entries, the first that does not fit, the newest hash, and where the expected one is.',
      schema: z.object({
        entries: z.int(),
        brokenAt: z.int().nullable(),
        /** Of the newest entry that was reached. */
        hash: z.string(),
        /** The number of the entry with the expected hash; null when none has it, or none was expected. */
        expectedAt: z.int().nullable(),
      }),
    },
  },
})
