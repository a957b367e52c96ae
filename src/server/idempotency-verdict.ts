/** Decides from the record of an Idempotency-Key what to do with a request: start, replay, wait or take over. `idempotency.ts` reads and writes the record. */
import type { Json } from '../json.ts'

/** The response that a repeated request gets. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/**
 * `begun`: a server executes the request and renews the lease. `interrupted`: it ended with an error that leaves the outcome
 * unknown. `done`: the response is stored.
 */
export type RequestState = 'begun' | 'interrupted' | 'done'

/** The record of an idempotency key. */
export interface RequestRecord {
  readonly state: RequestState
  readonly version: number
  /** The last write or lease renewal, by the database clock. */
  readonly updatedAt: number
  readonly fingerprint: string
  readonly answer: StoredAnswer | null
}

export interface RepeatedRequest {
  readonly fingerprint: string
  /** By the database clock. */
  readonly now: number
  /** The version that this request saw first; null at its first read. */
  readonly seen: number | null
  /** How long this request has waited. */
  readonly waitedMs: number
}

export type Verdict =
  | { readonly kind: 'begin' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'replay'; readonly answer: StoredAnswer }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'take_over' }
  | { readonly kind: 'wait'; readonly ms: number }

/** A server that has not renewed its lease for this long is considered dead. */
export const LEASE_MS = 3000
/** Two renewals may fail before the lease expires. */
export const RENEW_MS = LEASE_MS / 3
const POLL_MS = 250

/** A request waits for at most one lease: by then the record was renewed, completed or abandoned. */
export function judge(record: RequestRecord | null, { fingerprint, now, seen, waitedMs }: RepeatedRequest): Verdict {
  if (!record) return { kind: 'begin' }
  if (record.fingerprint !== fingerprint) return { kind: 'conflict' }
  if (record.answer) return { kind: 'replay', answer: record.answer }
  const leaseEndsInMs = record.updatedAt + LEASE_MS - now
  if (record.state === 'interrupted' || leaseEndsInMs <= 0) return { kind: 'take_over' }
  // Its server is alive: it has renewed the lease since this request arrived.
  if (seen !== null && record.version !== seen) return { kind: 'in_flight' }
  // After a whole lease without renewal, only a clock that was set back explains this.
  if (waitedMs >= LEASE_MS) return { kind: 'in_flight' }
  return { kind: 'wait', ms: Math.min(POLL_MS, leaseEndsInMs) }
}
