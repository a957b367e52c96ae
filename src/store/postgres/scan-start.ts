/**
 * Decides from which due instant on a claim looks while looking from the very beginning is expensive, which `scan-backoff.ts` tells. What is
 * due and stands below the floor is found by the next look from the beginning, which is never more than two seconds away.
 */
import type { Run } from '../../run/run.ts'
import type { Clock } from '../../time/clock.ts'
import type { Wanted } from '../contract/claims.ts'
import { createScanBackoff } from './scan-backoff.ts'

/** The instants from which on runs of each priority are looked for, 0 first; null is the beginning. */
export type ScanStart = readonly (number | null)[]

export interface Claim {
  readonly wanted: readonly Wanted[]
  readonly runs: readonly Run[]
  /** By the database's clock. */
  readonly now: number
  /** Entries of the index that the server read. */
  readonly read: number
}

export interface ScanStarts {
  /** For the next claim of this queue. */
  of(queue: string): ScanStart
  /** Answers in how many milliseconds the next look should be from the beginning; null when this one was, or none is needed. */
  claimed(claim: Claim): number | null
}

const LEVELS = 10
export const BEGINNING: ScanStart = Array.from({ length: LEVELS }, () => null)
/** An insert that was in flight may bring runs that are a little older than those just claimed. */
const MARGIN_MS = 100

export function createScanStarts(clock: Pick<Clock, 'elapsed'>): ScanStarts {
  const scanStarts = new Map<string, ScanStart>()
  const rest = createScanBackoff(clock)
  let raisedFor = false

  return {
    of(queue) {
      raisedFor = rest.leftMs() > 0
      return raisedFor ? (scanStarts.get(queue) ?? BEGINNING) : BEGINNING
    },
    claimed({ wanted, runs, now, read }) {
      const wasRaised = raisedFor
      if (!wasRaised) {
        rest.looked({ read, found: runs.length })
        scanStarts.clear()
      }
      const leftMs = rest.leftMs()
      if (leftMs === 0) return wasRaised ? 0 : null
      for (const { queue, limit } of wanted) {
        const granted = runs.filter((run) => run.queue === queue)
        scanStarts.set(queue, raised(scanStarts.get(queue) ?? BEGINNING, { granted, limit, now }))
      }
      return wasRaised ? leftMs : null
    },
  }
}

/** Priorities that were looked through to the end begin with what is new; the last one goes on where the claims ended. */
function raised(
  floor: ScanStart,
  { granted, limit, now }: { granted: readonly Run[]; limit: number; now: number },
): ScanStart {
  const reached = granted.length < limit ? -1 : Math.min(...granted.map(({ priority }) => priority))
  const lastAt = Math.max(...granted.filter(({ priority }) => priority === reached).map(({ dueAt }) => dueAt))
  return floor.map((before, level) => {
    if (level < reached) return before
    return (level === reached ? lastAt : now) - MARGIN_MS
  })
}
