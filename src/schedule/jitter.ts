/** By how much an occurrence is late on purpose: a hash, so that it is the same on every node; it never changes what the occurrence is. */
import type { Jitter } from './schedule.ts'
import { stableHash } from './stable-hash.ts'

const HASHES = 2 ** 32

export interface Slot {
  readonly at: number
  /** The occurrence after it; null when there is none. */
  readonly nextAt: number | null
}

/** Whole milliseconds from 0 on; never as far as the next occurrence. */
export function jitterMs(jitter: Jitter | null, seed: string, { at, nextAt }: Slot): number {
  if (!jitter) return 0
  const gap = nextAt === null ? Number.POSITIVE_INFINITY : nextAt - at
  const wanted = 'ms' in jitter.max ? jitter.max.ms : nextAt === null ? 0 : jitter.max.share * gap
  const bound = Math.min(wanted, gap)
  const text = jitter.per === 'schedule' ? `jitter ${seed}` : `jitter ${seed} ${at}`
  return Math.floor((stableHash(text) / HASHES) * bound)
}
