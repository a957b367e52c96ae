/**
 * Decides from which due instant on a claim looks while looking from the very beginning is dear, which `rest.ts` tells. What is
 * due and stands below the floor is found by the next look from the beginning, which is never more than two seconds away.
 */
import type { Run } from '../../run/run.ts'
import type { Clock } from '../../time/clock.ts'
import type { Wanted } from '../contract/claims.ts'
import { createRest } from './rest.ts'

/** The instants from which on runs of each priority are looked for, 0 first; null is the beginning. */
export type Floor = readonly (number | null)[]

export interface Claim {
  readonly wanted: readonly Wanted[]
  readonly runs: readonly Run[]
  /** By the database's clock. */
  readonly now: number
  /** Entries of the index that the server read. */
  readonly read: number
}

export interface Floors {
  /** For the next claim of this queue. */
  of(queue: string): Floor
  /** Answers in how many milliseconds the next look should be from the beginning; null when this one was, or none is needed. */
  claimed(claim: Claim): number | null
}

const LEVELS = 10
export const BEGINNING: Floor = Array.from({ length: LEVELS }, () => null)
/** An insert that was under way may bring runs that are a little older than those just granted. */
const MARGIN_MS = 100

export function createFloors(clock: Pick<Clock, 'elapsed'>): Floors {
  const floors = new Map<string, Floor>()
  const rest = createRest(clock)
  let raisedFor = false

  return {
    of(queue) {
      raisedFor = rest.leftMs() > 0
      return raisedFor ? (floors.get(queue) ?? BEGINNING) : BEGINNING
    },
    claimed({ wanted, runs, now, read }) {
      const wasRaised = raisedFor
      if (!wasRaised) {
        rest.looked({ read, found: runs.length })
        floors.clear()
      }
      const leftMs = rest.leftMs()
      if (leftMs === 0) return wasRaised ? 0 : null
      for (const { queue, limit } of wanted) {
        const granted = runs.filter((run) => run.queue === queue)
        floors.set(queue, raised(floors.get(queue) ?? BEGINNING, { granted, limit, now }))
      }
      return wasRaised ? leftMs : null
    },
  }
}

/** Priorities that were looked through to the end begin with what is new; the last one goes on where the grants ended. */
function raised(floor: Floor, { granted, limit, now }: { granted: readonly Run[]; limit: number; now: number }): Floor {
  const reached = granted.length < limit ? -1 : Math.min(...granted.map(({ priority }) => priority))
  const lastAt = Math.max(...granted.filter(({ priority }) => priority === reached).map(({ dueAt }) => dueAt))
  return floor.map((before, level) => {
    if (level < reached) return before
    return (level === reached ? lastAt : now) - MARGIN_MS
  })
}
