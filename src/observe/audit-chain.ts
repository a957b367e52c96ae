/** The hash chain of the audit log: computes the hashes, and finds where a chain was modified. */
import { createHash } from 'node:crypto'

/** Hex digits of the newest hash in the metric: few enough for a monitoring system to store the number without rounding. */
const SHORT = 12

/** The previous hash of the first entry. */
export const NO_HASH = '0'.repeat(64)

/** The chain fields of an entry; all its other fields are hashed too. */
export interface ChainedEntry {
  readonly seq: number
  readonly previousHash: string
  readonly hash: string
}

/** SHA-256 in hex over all fields of an entry except its own hash, including the hash of the previous entry. */
export function auditHash(previousHash: string, entry: object): string {
  const { hash: _, ...rest } = entry as Partial<ChainedEntry>
  return createHash('sha256')
    .update(canonical({ ...rest, previousHash }))
    .digest('hex')
}

/**
 * The seq of the first entry whose hashes do not match the previous entry, or null. Entries are sorted from oldest to newest;
 * `previousHash` is the hash of the entry before them. A chain alone cannot show that its newest entries were cut off: store its
 * newest hash elsewhere, and search for it with `isHashOf`.
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

/** Whether the text is the hash, or its first digits. */
export const isHashOf = ({ hash }: Pick<ChainedEntry, 'hash'>, expected: string): boolean =>
  hash.startsWith(expected.toLowerCase())

/** The first digits of a hash, as a number. */
export const shortHash = (hash: string): number => Number.parseInt(hash.slice(0, SHORT), 16)

/** Canonical JSON: independent of key order and of the database that stored it. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const parts = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`)
  return `{${parts.join()}}`
}
