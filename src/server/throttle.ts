/** Buckets of allowance, one per caller: how many calls now, and how soon more; who counts as one caller is decided elsewhere. */
import type { Clock } from '../time/clock.ts'

export interface Rate {
  /** How many at once. */
  readonly burst: number
  readonly perSecond: number
}

export interface Throttle {
  /** Takes one; answers 0, or after how many seconds there is one again. */
  take(name: string): number
  /** The same question without taking. */
  look(name: string): number
}

/** Callers remembered at once; those with a full bucket are forgotten first, and lose nothing by it. */
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
    // All of them are busy: whoever has been here longest starts again.
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
