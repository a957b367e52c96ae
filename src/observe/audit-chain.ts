/** The hashes that tie the entries of the audit log together, and where a chain was touched; entries are kept by the store. */
import { createHash } from 'node:crypto'

/** Hexadecimal digits of the newest hash that a metric carries: a number that every monitoring keeps exactly. */
const SHORT = 12

/** What stands before the first entry. */
export const NO_HASH = '0'.repeat(64)

/** An entry as far as the chain is concerned; whatever else it holds is hashed with it. */
export interface ChainedEntry {
  readonly seq: number
  readonly previousHash: string
  readonly hash: string
}

/** SHA-256, as hex, over all that an entry holds but its own hash, and over the hash of the entry before. */
export function auditHash(previousHash: string, entry: object): string {
  const { hash: _, ...rest } = entry as Partial<ChainedEntry>
  return createHash('sha256')
    .update(canonical({ ...rest, previousHash }))
    .digest('hex')
}

/**
 * The seq of the first entry that does not fit the one before it, or null. The entries go from the oldest to the newest;
 * `previousHash` is of the one before them. That the newest entries were cut off no chain can tell by itself: for that,
 * keep its newest hash elsewhere, and look for it with `isHashOf`.
 */
export function brokenAt(entries: readonly ChainedEntry[], previousHash: string): number | null {
  let previous = previousHash
  let next = previousHash === NO_HASH ? 1 : entries[0]?.seq
  for (const entry of entries) {
    const isTrue = entry.seq === next && entry.previousHash === previous && entry.hash === auditHash(previous, entry)
    if (!isTrue) return entry.seq
    previous = entry.hash
    next = entry.seq + 1
  }
  return null
}

/** Whether this is the hash, or its first digits. */
export const isHashOf = ({ hash }: Pick<ChainedEntry, 'hash'>, expected: string): boolean =>
  hash.startsWith(expected.toLowerCase())

/** The first digits of a hash as a number. */
export const shortHash = (hash: string): number => Number.parseInt(hash.slice(0, SHORT), 16)

/** JSON text that does not depend on the order in which an object was put together, nor on the database that kept it. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const parts = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`)
  return `{${parts.join()}}`
}
