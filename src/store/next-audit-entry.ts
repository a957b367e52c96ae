/** Makes the next entry of the audit log, just as it will be read back, since its hash is over that; writing it under a lock is each store's business. */
import { type Json, MAX_JSON_BYTES, toJsonText } from '../json.ts'
import { auditHash, NO_HASH } from '../observe/audit-chain.ts'
import type { AuditEntry, NewAuditEntry } from './contract/audit-log.ts'
import { storableText } from './storable-text.ts'

/** A whole schedule with its payload, and some more words beside it. */
const MAX_BYTES = 4 * MAX_JSON_BYTES

/** The newest entry, or undefined where there is none. */
export type Newest = Pick<AuditEntry, 'seq' | 'hash'> | undefined

/** An entry whose text and JSON every database gives back as they are; refused before anybody is made to wait for a lock. */
export const readEntry = (entry: NewAuditEntry): NewAuditEntry => ({
  workspace: storableText(entry.workspace),
  actor: storableText(entry.actor),
  action: storableText(entry.action),
  target: storableText(entry.target),
  before: kept(entry.before, 'before'),
  after: kept(entry.after, 'after'),
  origin: kept(entry.origin, 'origin'),
})

export function nextEntry(entry: NewAuditEntry, newest: Newest, at: number): AuditEntry {
  const previousHash = newest?.hash ?? NO_HASH
  const unhashed = { ...entry, seq: (newest?.seq ?? 0) + 1, at, previousHash }
  return { ...unhashed, hash: auditHash(previousHash, unhashed) }
}

const kept = (value: Json, what: string): Json => JSON.parse(toJsonText(value, { what, maxBytes: MAX_BYTES })) as Json
