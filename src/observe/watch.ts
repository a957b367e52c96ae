/** Decides, purely, how long something has really lasted: time in which nobody watched (a restart, a machine asleep, a database away) and pauses of queues do not count. */

/** What is remembered from one look to the next, by all processes together. */
export interface Watch {
  /** When somebody looked first. */
  readonly firstAt: number
  /** When somebody looked last. */
  readonly seenAt: number
  /** Stretches in which nobody looked, oldest first. */
  readonly gaps: readonly (readonly [fromAt: number, toAt: number])[]
  /** When each queue was last seen paused. */
  readonly paused: Readonly<Record<string, number>>
}

/** Between two looks. */
export const POLL_MS = 15_000
/** Looks that are further apart have a gap between them; of it, as much counts as one look would have seen. */
const MAX_APART_MS = 2 * POLL_MS
const MAX_GAPS = 50
/** Queues that are paused at once, and how long it is remembered that one was. */
const MAX_PAUSED = 1000
const REMEMBERED_MS = 86_400_000

/** The watch as it is after a look at `now`. */
export function watched(
  before: Watch | null,
  { now, paused }: { readonly now: number; readonly paused: readonly string[] },
): Watch {
  const { firstAt, seenAt, gaps } = before ?? { firstAt: now, seenAt: now, gaps: [] }
  const isApart = now - seenAt > MAX_APART_MS
  const remembered = Object.entries(before?.paused ?? {}).filter(([, at]) => now - at < REMEMBERED_MS)
  const seen = paused.slice(0, MAX_PAUSED).map((name) => [name, now] as const)
  return {
    // A clock that was set back begins again.
    firstAt: Math.min(firstAt, now),
    seenAt: now,
    gaps: (isApart ? [...gaps, [seenAt + POLL_MS, now] as const] : gaps).slice(-MAX_GAPS),
    paused: Object.fromEntries([...remembered, ...seen].slice(-2 * MAX_PAUSED)),
  }
}

/** For how long something has lasted since an instant, as far as somebody watched. */
export function watchedMs({ firstAt, seenAt, gaps }: Watch, sinceAt: number): number {
  const from = Math.max(sinceAt, firstAt)
  const missed = gaps.reduce((sum, [gapFrom, gapTo]) => sum + Math.max(0, gapTo - Math.max(gapFrom, from)), 0)
  return Math.max(0, seenAt - from - missed)
}

/** When the last gap ended; long ago where there was none. */
export const lastGapAt = ({ firstAt, gaps }: Watch): number => gaps.at(-1)?.[1] ?? firstAt
