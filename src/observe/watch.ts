/** Computes how long something has lasted, without periods when no server checked (restart, sleep, database down) and without queue pauses. Pure. */

/** The shared record of when servers checked. */
export interface Watch {
  /** The first check. */
  readonly firstAt: number
  /** The latest check. */
  readonly seenAt: number
  /** Gaps without checks, oldest first. */
  readonly gaps: readonly (readonly [fromAt: number, toAt: number])[]
  /** When each queue was last seen paused. */
  readonly paused: Readonly<Record<string, number>>
}

/** The interval between two checks. */
export const POLL_MS = 15_000
/** Checks further apart than this have a gap between them; one check interval of the gap still counts. */
const MAX_APART_MS = 2 * POLL_MS
const MAX_GAPS = 50
/** The most paused queues to remember, and for how long. */
const MAX_PAUSED = 1000
const REMEMBERED_MS = 86_400_000

/** The record after a check at `now`. */
export function watched(
  before: Watch | null,
  { now, paused }: { readonly now: number; readonly paused: readonly string[] },
): Watch {
  const { firstAt, seenAt, gaps } = before ?? { firstAt: now, seenAt: now, gaps: [] }
  const isApart = now - seenAt > MAX_APART_MS
  const remembered = Object.entries(before?.paused ?? {}).filter(([, at]) => now - at < REMEMBERED_MS)
  const seen = paused.slice(0, MAX_PAUSED).map((name) => [name, now] as const)
  return {
    // The clock was set back: start over.
    firstAt: Math.min(firstAt, now),
    seenAt: now,
    gaps: (isApart ? [...gaps, [seenAt + POLL_MS, now] as const] : gaps).slice(-MAX_GAPS),
    paused: Object.fromEntries([...remembered, ...seen].slice(-2 * MAX_PAUSED)),
  }
}

/** How long something has lasted since an instant, without gaps. */
export function watchedMs({ firstAt, seenAt, gaps }: Watch, sinceAt: number): number {
  const from = Math.max(sinceAt, firstAt)
  const missed = gaps.reduce((sum, [gapFrom, gapTo]) => sum + Math.max(0, gapTo - Math.max(gapFrom, from)), 0)
  return Math.max(0, seenAt - from - missed)
}

/** When the last gap ended; long ago if there was none. */
export const lastGapAt = ({ firstAt, gaps }: Watch): number => gaps.at(-1)?.[1] ?? firstAt
