/** The audit log over HTTP: who changed what, and whether its hash chain is intact. */
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
  summary: 'List the audit log, newest first: every change over HTTP, with actor, action, before, after and origin.',
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
    /** The number of the newest entry; 0 if the log is empty. */
    entries: z.int(),
    at: Instant.nullable(),
    /** The hash of the newest entry, which covers the whole chain; 64 zeros if the log is empty. */
    hash: z.string(),
  }),
)

/** A hash, or its beginning. */
const Expected = z
  .string()
  .regex(/^[0-9a-fA-F]{12,64}$/, 'is not a hash: 64 hexadecimal digits, or the first 12 or more')

export const getAuditHead = operation({
  id: 'getAuditHead',
  method: 'get',
  path: '/audit/head',
  summary: 'Get the newest hash of the audit log. Store it elsewhere to detect a log whose end was cut off.',
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
    'Verify the hash chain of the audit log: where it breaks, if it does, and whether it contains an expected hash.',
  resource,
  scope: 'admin',
  reach: 'fleet',
  query: z.strictObject({ expect: Expected.optional() }),
  answers: {
    200: {
      description:
        'The number of entries, the first entry that does not match, the newest hash, and the entry with the expected hash.',
      schema: z.object({
        entries: z.int(),
        brokenAt: z.int().nullable(),
        /** The hash of the last entry that was checked. */
        hash: z.string(),
        /** The number of the entry with the expected hash; null if no entry has it, or `expect` is absent. */
        expectedAt: z.int().nullable(),
      }),
    },
  },
})
