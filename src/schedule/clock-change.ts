/** Carries wall times over clock changes to instants, by the gap and fold rules; which wall times exist is `wall-pattern.ts`. */
import { SECOND_MS } from './calendar.ts'
import { segmentAt, type TimeZone } from './time-zone.ts'
import { countWall, nextWall, prevWall, type WallPattern } from './wall-pattern.ts'

/** A larger jump is a change of calendar (a zone crossing the date line): nothing is moved and nothing is dropped. */
const MAX_JUMP_MS = 3 * 3_600_000

export type Gap = 'shift' | 'skip'
export type Fold = 'first' | 'second' | 'both'

/** Everything an occurrence depends on. */
export interface Clockwork {
  readonly pattern: WallPattern
  readonly zone: TimeZone
  readonly gap: Gap
  readonly fold: Fold
}

/** By how much the wall clock goes back at the start of segment `k`; 0 when it does not, or jumps by more than three hours. */
function foldMs(zone: TimeZone, k: number): number {
  const back = k > 0 && k < zone.offset.length ? zone.offset[k - 1]! - zone.offset[k]! : 0
  return back > 0 && back <= MAX_JUMP_MS ? back : 0
}

/** The first occurrence after `t`, or NaN. Walks the stretches between clock changes; `wall` is the earliest listed wall time >= `low`. */
export function nextInstant(clockwork: Clockwork, t: number): number {
  const { pattern, zone, gap, fold } = clockwork
  const { at, offset } = zone
  let k = segmentAt(zone, t)
  let low = Math.floor(t / SECOND_MS) * SECOND_MS + SECOND_MS + offset[k]!
  let wall = nextWall(pattern, low)
  for (;;) {
    const start = at[k]! + offset[k]!
    if (fold === 'first' && wall < start + foldMs(zone, k)) {
      low = start + foldMs(zone, k)
      wall = nextWall(pattern, low)
    }
    const end = at[k + 1]!
    const repeats = fold === 'second' ? foldMs(zone, k + 1) : 0
    if (wall - offset[k]! < end - repeats) return wall - offset[k]!
    if (Number.isNaN(wall) || end === Number.POSITIVE_INFINITY) return Number.NaN
    const nextStart = end + offset[k + 1]!
    const missing = nextStart - (end + offset[k]!)
    if (missing > 0 && wall < nextStart) {
      if (gap === 'shift' && missing <= MAX_JUMP_MS) return end
      low = nextStart
      wall = nextWall(pattern, low)
    } else if (missing < 0 && nextStart < low) {
      low = nextStart
      wall = nextWall(pattern, low)
    }
    k++
  }
}

/** The last occurrence before `t`, or NaN; the mirror of `nextInstant`, with `wall` the latest listed wall time <= `high`. */
export function prevInstant(clockwork: Clockwork, t: number): number {
  const { pattern, zone, gap, fold } = clockwork
  const { at, offset } = zone
  const last = Math.ceil(t / SECOND_MS) * SECOND_MS - SECOND_MS
  let k = segmentAt(zone, last)
  let high = last + offset[k]!
  let wall = prevWall(pattern, high)
  for (;;) {
    const start = at[k]! + offset[k]!
    const repeats = fold === 'second' ? foldMs(zone, k + 1) : 0
    if (repeats > 0 && wall >= at[k + 1]! + offset[k + 1]!) {
      high = at[k + 1]! + offset[k + 1]! - SECOND_MS
      wall = prevWall(pattern, high)
    }
    if (Number.isNaN(wall)) return Number.NaN
    if (wall >= start && !(fold === 'first' && wall < start + foldMs(zone, k))) return wall - offset[k]!
    if (k === 0) return Number.NaN
    const prevEnd = at[k]! + offset[k - 1]!
    if (prevEnd < start && wall >= prevEnd) {
      if (gap === 'shift' && start - prevEnd <= MAX_JUMP_MS) return at[k]!
      high = prevEnd - SECOND_MS
      wall = prevWall(pattern, high)
    } else if (prevEnd - SECOND_MS > high) {
      high = prevEnd - SECOND_MS
      wall = prevWall(pattern, high)
    }
    k--
  }
}

/** How many occurrences lie in (from, to]. */
export function countInstants(clockwork: Clockwork, from: number, to: number): number {
  const { pattern, zone, gap, fold } = clockwork
  const { at, offset } = zone
  const first = Math.floor(from / SECOND_MS) * SECOND_MS + SECOND_MS
  const end = Math.floor(to / SECOND_MS) * SECOND_MS + SECOND_MS
  let count = 0
  for (let k = segmentAt(zone, first); k < offset.length && at[k]! < end; k++) {
    const start = at[k]! + offset[k]!
    const natural = fold === 'first' ? start + foldMs(zone, k) : start
    const until = at[k + 1]! - (fold === 'second' ? foldMs(zone, k + 1) : 0)
    const low = Math.max(first + offset[k]!, natural)
    const high = Math.min(end, until) + offset[k]!
    count += countWall(pattern, low, high)
    if (gap === 'shift' && k > 0 && at[k]! >= first && isMovedTo(clockwork, k)) count++
  }
  return count
}

/** Whether the start of segment `k` carries an occurrence only because the clock jumped over its wall time. */
function isMovedTo({ pattern, zone }: Clockwork, k: number): boolean {
  const start = zone.at[k]! + zone.offset[k]!
  const prevEnd = zone.at[k]! + zone.offset[k - 1]!
  if (prevEnd >= start || start - prevEnd > MAX_JUMP_MS) return false
  return countWall(pattern, prevEnd, start) > 0 && countWall(pattern, start, start + SECOND_MS) === 0
}

/** A change of the wall clock that falls on times the pattern lists. */
export interface TouchedChange {
  readonly kind: 'gap' | 'fold'
  readonly at: number
  /** The wall times [from, to) that are missing or happen twice. */
  readonly from: number
  readonly to: number
  /** How many listed wall times lie among them, and the first. */
  readonly listed: number
  readonly first: number
  readonly offsetBefore: number
  readonly offsetAfter: number
}

/** The changes in (from, to] that skip or repeat a listed wall time. */
export function touchedChanges({ pattern, zone }: Clockwork, from: number, to: number): TouchedChange[] {
  const touched: TouchedChange[] = []
  for (let k = segmentAt(zone, from) + 1; k < zone.offset.length && zone.at[k]! <= to; k++) {
    const [offsetBefore, offsetAfter] = [zone.offset[k - 1]!, zone.offset[k]!]
    if (Math.abs(offsetAfter - offsetBefore) > MAX_JUMP_MS) continue
    const low = zone.at[k]! + Math.min(offsetBefore, offsetAfter)
    const high = zone.at[k]! + Math.max(offsetBefore, offsetAfter)
    const listed = countWall(pattern, low, high)
    if (listed === 0) continue
    const kind = offsetAfter > offsetBefore ? 'gap' : 'fold'
    const first = nextWall(pattern, low)
    touched.push({ kind, at: zone.at[k]!, from: low, to: high, listed, first, offsetBefore, offsetAfter })
  }
  return touched
}
