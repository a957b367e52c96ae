/** Decides what becomes of a request from the document of its Idempotency-Key: begin it, answer as before, wait, or take over; reading and writing that document is `idempotency.ts`. */
import type { Json } from '../json.ts'

/** The answer of a request, as a repetition gets it. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/**
 * `begun`: a server works on it, and renews the document while it does. `interrupted`: it ended with an error that leaves open
 * what was written. `done`: the answer is there.
 */
export type RequestState = 'begun' | 'interrupted' | 'done'

/** What the document of a key says. */
export interface RequestRecord {
  readonly state: RequestState
  readonly version: number
  /** The last write or renewal, by the store's clock. */
  readonly updatedAt: number
  readonly fingerprint: string
  readonly answer: StoredAnswer | null
}

export interface RepeatedRequest {
  readonly fingerprint: string
  /** By the store's clock. */
  readonly now: number
  /** The version that this asker saw when it came; null at its first look. */
  readonly seen: number | null
  /** How long this asker has waited. */
  readonly waitedMs: number
}

export type Verdict =
  | { readonly kind: 'begin' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'replay'; readonly answer: StoredAnswer }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'take_over' }
  | { readonly kind: 'wait'; readonly ms: number }

/** A server that has not renewed for this long counts as dead. */
export const LEASE_MS = 3000
/** Two renewals may fail before the lease ends. */
export const RENEW_MS = LEASE_MS / 3
const POLL_MS = 250

/** An asker waits one lease at most: by then the document was renewed, answered or given up. */
export function judge(record: RequestRecord | null, { fingerprint, now, seen, waitedMs }: RepeatedRequest): Verdict {
  if (!record) return { kind: 'begin' }
  if (record.fingerprint !== fingerprint) return { kind: 'conflict' }
  if (record.answer) return { kind: 'replay', answer: record.answer }
  const leaseEndsInMs = record.updatedAt + LEASE_MS - now
  if (record.state === 'interrupted' || leaseEndsInMs <= 0) return { kind: 'take_over' }
  // Its server lives: it has renewed the lease since this asker came.
  if (seen !== null && record.version !== seen) return { kind: 'in_flight' }
  // After a whole lease only a clock that was set back can be the reason.
  if (waitedMs >= LEASE_MS) return { kind: 'in_flight' }
  return { kind: 'wait', ms: Math.min(POLL_MS, leaseEndsInMs) }
}
