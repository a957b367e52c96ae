/** Finds, on a wall clock that never changes, the next, previous and number of times an expression lists; clock changes come after. */
import { DAY_MS, monthLength, monthStart, SECOND_MS, weekdayOf, yearMonth } from './calendar.ts'
import { bitCount, fieldBits, highestBit, lowestBit } from './cron-bits.ts'
import type { Field } from './cron-field.ts'
import { dayMask } from './day-mask.ts'
import { type TimesOfDay, timeAtOrAfter, timeAtOrBefore, timesBefore, timesOfDay } from './time-of-day.ts'
import { type YearSpan, yearSpans } from './year-spans.ts'

/** No expression that ever fires rests longer than 40 years (29 February on one weekday, across a century without a leap day). */
const MAX_MONTHS = 50 * 12

interface ListedYears {
  readonly spans: readonly YearSpan[]
  /** The same expression in every year, on which the spans are laid. */
  readonly always: WallPattern
}

/** A compiled expression. */
export interface WallPattern {
  readonly times: TimesOfDay
  readonly months: number
  readonly day: Field
  readonly weekday: Field
  /** Null where all years are listed. */
  readonly years: ListedYears | null
  /** Day masks by length and first weekday, filled when first asked for; -1 is not yet known. */
  masks: number[] | null
}

type AllFields = readonly [Field, Field, Field, Field, Field, Field, Field?]

export function wallPattern(fields: readonly Field[]): WallPattern {
  const [second, minute, hour, day, month, weekday, year] = fields as AllFields
  const always = { times: timesOfDay(second, minute, hour), months: fieldBits(month), day, weekday, masks: null }
  const spans = year ? yearSpans(year) : null
  return { ...always, years: spans && { spans, always: { ...always, years: null } } }
}

function maskOf(pattern: WallPattern, length: number, first: number): number {
  const masks = (pattern.masks ??= new Array<number>(28).fill(-1))
  const index = (length - 28) * 7 + first
  const known = masks[index]!
  return known >= 0 ? known : (masks[index] = dayMask(pattern, length, first))
}

/** The first listed wall time at or after `local` (a whole second), or NaN when 50 years hold none. */
export function nextWall(pattern: WallPattern, local: number): number {
  if (pattern.years !== null) return nextInYears(pattern.years, local)
  const today = Math.floor(local / DAY_MS)
  const packed = yearMonth(today)
  let year = Math.floor(packed / 16)
  let month = packed & 15
  let start = monthStart(year, month)
  let from = today - start
  let fresh = false
  for (let walked = 0; walked < MAX_MONTHS; walked++) {
    if ((pattern.months >>> month) & 1) {
      let days = maskOf(pattern, monthLength(year, month), weekdayOf(start)) & (-1 << from)
      if (!fresh && (days >>> from) & 1) {
        const time = timeAtOrAfter(pattern.times, ((local - today * DAY_MS) / SECOND_MS) | 0)
        if (time >= 0) return today * DAY_MS + time * SECOND_MS
        days &= days - 1
      }
      if (days) return (start + lowestBit(days)) * DAY_MS + pattern.times.first * SECOND_MS
    }
    fresh = true
    from = 0
    if (++month > 12) {
      month = 1
      year++
    }
    start = monthStart(year, month)
  }
  return Number.NaN
}

/** The last listed wall time at or before `local` (a whole second), or NaN when 50 years hold none. */
export function prevWall(pattern: WallPattern, local: number): number {
  if (pattern.years !== null) return prevInYears(pattern.years, local)
  const today = Math.floor(local / DAY_MS)
  const packed = yearMonth(today)
  let year = Math.floor(packed / 16)
  let month = packed & 15
  let start = monthStart(year, month)
  let upTo = (2 << (today - start)) - 1
  let fresh = false
  for (let walked = 0; walked < MAX_MONTHS; walked++) {
    if ((pattern.months >>> month) & 1) {
      let days = maskOf(pattern, monthLength(year, month), weekdayOf(start)) & upTo
      if (!fresh && (days >>> (today - start)) & 1) {
        const time = timeAtOrBefore(pattern.times, ((local - today * DAY_MS) / SECOND_MS) | 0)
        if (time >= 0) return today * DAY_MS + time * SECOND_MS
        days &= ~(1 << (today - start))
      }
      if (days) return (start + highestBit(days)) * DAY_MS + pattern.times.last * SECOND_MS
    }
    fresh = true
    upTo = 0x7fffffff
    if (--month < 1) {
      month = 12
      year--
    }
    start = monthStart(year, month)
  }
  return Number.NaN
}

/** How many listed wall times lie in [from, to), both whole seconds; walks months, not times. */
export function countWall(pattern: WallPattern, from: number, to: number): number {
  if (pattern.years !== null) return countInYears(pattern.years, from, to)
  if (to <= from) return 0
  const firstDay = Math.floor(from / DAY_MS)
  const lastDay = Math.floor(to / DAY_MS)
  const cutHead = listed(pattern, firstDay)
    ? timesBefore(pattern.times, ((from - firstDay * DAY_MS) / SECOND_MS) | 0)
    : 0
  const tail = listed(pattern, lastDay) ? timesBefore(pattern.times, ((to - lastDay * DAY_MS) / SECOND_MS) | 0) : 0
  return countDays(pattern, firstDay, lastDay) * pattern.times.perDay - cutHead + tail
}

/** The days of a month that are listed, as bits from 0 on; `start` is its first day. */
export function daysOfMonth(pattern: WallPattern, packed: number, start: number): number {
  const month = packed & 15
  if (!((pattern.months >>> month) & 1)) return 0
  if (
    pattern.years !== null &&
    !pattern.years.spans.some(({ from, to }) => from <= start * DAY_MS && start * DAY_MS < to)
  )
    return 0
  return maskOf(pattern, monthLength(Math.floor(packed / 16), month), weekdayOf(start))
}

function listed(pattern: WallPattern, day: number): boolean {
  const packed = yearMonth(day)
  const month = packed & 15
  if (!((pattern.months >>> month) & 1)) return false
  const year = Math.floor(packed / 16)
  const start = monthStart(year, month)
  return ((maskOf(pattern, monthLength(year, month), weekdayOf(start)) >>> (day - start)) & 1) === 1
}

/** After which weekdays and lengths of months repeat: 400 years. */
const CYCLE_DAYS = 146_097

/** Listed days in [from, to). */
function countDays(pattern: WallPattern, from: number, to: number): number {
  if (to - from > CYCLE_DAYS) {
    const cycles = Math.floor((to - from) / CYCLE_DAYS)
    const rest = from + cycles * CYCLE_DAYS
    return cycles * countDays(pattern, from, from + CYCLE_DAYS) + countDays(pattern, rest, to)
  }
  let count = 0
  const packed = yearMonth(from)
  let year = Math.floor(packed / 16)
  let month = packed & 15
  for (let start = monthStart(year, month); start < to; ) {
    const length = monthLength(year, month)
    if ((pattern.months >>> month) & 1) {
      let days = maskOf(pattern, length, weekdayOf(start))
      if (from > start) days &= -1 << (from - start)
      if (to < start + length) days &= (1 << (to - start)) - 1
      count += bitCount(days)
    }
    start += length
    if (++month > 12) {
      month = 1
      year++
    }
  }
  return count
}

function nextInYears({ spans, always }: ListedYears, local: number): number {
  let wall = Number.NEGATIVE_INFINITY
  for (const { from, to } of spans) {
    // One search may pass over many spans: what it found lies behind them.
    if (local >= to || wall >= to) continue
    const low = Math.max(local, from)
    if (wall < low) wall = nextWall(always, low)
    // What 50 years do not hold, no later year does.
    if (!(wall >= to)) return wall
  }
  return Number.NaN
}

function prevInYears({ spans, always }: ListedYears, local: number): number {
  let wall = Number.POSITIVE_INFINITY
  for (let i = spans.length - 1; i >= 0; i--) {
    const { from, to } = spans[i]!
    if (local < from || wall < from) continue
    const high = Math.min(local, to - SECOND_MS)
    if (wall > high) wall = prevWall(always, high)
    if (!(wall < from)) return wall
  }
  return Number.NaN
}

function countInYears({ spans, always }: ListedYears, from: number, to: number): number {
  let count = 0
  for (const span of spans) count += countWall(always, Math.max(from, span.from), Math.min(to, span.to))
  return count
}
