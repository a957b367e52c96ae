/** Decides, purely, whether a host that failed again and again is called or left in peace for a while; who asks and waits stands in `hosts.ts`. */

/** After so many failures in a row nobody calls the host. */
export const OPENS_AFTER = 5
/** For so long; then one call tries. */
export const BACKOFF_MS = 10_000

export type Breaker =
  /** Calls go out. */
  | { readonly kind: 'closed'; readonly failures: number }
  /** No calls until then, by a clock that never goes back. */
  | { readonly kind: 'open'; readonly until: number }
  /** One call is out; the others wait for what it says. */
  | { readonly kind: 'trying' }

export const CLOSED: Breaker = { kind: 'closed', failures: 0 }

export type Permission =
  | { readonly kind: 'call'; readonly next: Breaker }
  | { readonly kind: 'wait' }
  | { readonly kind: 'rest'; readonly forMs: number }

export function permissionAt(breaker: Breaker, at: number): Permission {
  if (breaker.kind === 'closed') return { kind: 'call', next: breaker }
  if (breaker.kind === 'trying') return { kind: 'wait' }
  return at < breaker.until ? { kind: 'rest', forMs: breaker.until - at } : { kind: 'call', next: { kind: 'trying' } }
}

/** What a call says of its host; a call that we broke off says nothing. */
export type Health = 'well' | 'unwell' | 'unknown'

export function heardAt(breaker: Breaker, health: Health, at: number): Breaker {
  if (health === 'well') return CLOSED
  // A call from before it opened: the rest goes on.
  if (breaker.kind === 'open') return breaker
  if (breaker.kind === 'trying') return { kind: 'open', until: health === 'unwell' ? at + BACKOFF_MS : at }
  if (health === 'unknown') return breaker
  const failures = breaker.failures + 1
  return failures < OPENS_AFTER ? { kind: 'closed', failures } : { kind: 'open', until: at + BACKOFF_MS }
}
