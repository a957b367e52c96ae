/** A token bucket rate limiter with one bucket per caller. */
import type { Clock } from '../time/clock.ts'

export interface Rate {
  /** The burst size. */
  readonly burst: number
  readonly perSecond: number
}

export interface Throttle {
  /** Takes a token; returns 0, or the seconds until one is available. */
  take(name: string): number
  /** The same without taking a token. */
  look(name: string): number
}

/** The most buckets in memory; full buckets are dropped first, which changes nothing. */
const MAX_NAMES = 10_000

export function throttle(clock: Clock, { burst, perSecond }: Rate): Throttle {
  const buckets = new Map<string, { left: number; at: number }>()
  const filled = (name: string): { left: number; at: number } => {
    const now = clock.elapsed()
    const known = buckets.get(name)
    if (!known) return { left: burst, at: now }
    return { left: Math.min(burst, known.left + ((now - known.at) / 1000) * perSecond), at: now }
  }
  const wait = (left: number): number => (left >= 1 ? 0 : Math.ceil((1 - left) / perSecond))
  const forget = (): void => {
    for (const name of buckets.keys()) if (filled(name).left >= burst) buckets.delete(name)
    // No bucket is full, so drop the oldest one.
    for (const name of buckets.keys()) if (buckets.size >= MAX_NAMES) buckets.delete(name)
  }
  return {
    look: (name) => wait(filled(name).left),
    take(name) {
      const bucket = filled(name)
      const seconds = wait(bucket.left)
      if (seconds === 0) bucket.left -= 1
      if (!buckets.has(name) && buckets.size >= MAX_NAMES) forget()
      buckets.set(name, bucket)
      return seconds
    },
  }
}
