/** Decides whether an exclusion holds at an instant, and until when; all of a schedule's together are `exclusions.ts`. */
import { DAY_MS, monthStart, SECOND_MS, yearMonth } from './calendar.ts'
import { readCron } from './cron-expression.ts'
import { interning } from './interning.ts'
import type { Exclusion } from './schedule.ts'
import { isTimeListed, type TimesOfDay, unlistedFrom, wholeMinutes } from './time-of-day.ts'
import { segmentAt, type TimeZone, timeZone } from './time-zone.ts'
import { daysOfMonth, type WallPattern, wallPattern } from './wall-pattern.ts'

export interface Excluded {
  /** Which exclusion, in the words it was given in. */
  readonly detail: string
  /** It holds for every instant from the one asked about up to, but not at, this one. */
  readonly untilAt: number
}

/** Asked about one instant after another, usually in their order. */
export type Excluder = (at: number) => Excluded | null

/** What the wall clock of a zone shows while an exclusion holds: the same wall time counts each time that it comes. */
export type WallSet =
  | { readonly kind: 'date'; readonly zone: TimeZone; readonly day: number }
  | { readonly kind: 'times'; readonly zone: TimeZone; readonly pattern: WallPattern; readonly times: TimesOfDay }

export const excludedAt = (exclusion: Exclusion, at: number): Excluded | null => excluderOf(exclusion)(at)

export function excluderOf(exclusion: Exclusion, set = wallSetOf(exclusion)): Excluder {
  if (exclusion.kind === 'range') return (at) => inRange(exclusion, at)
  const detail = exclusion.kind === 'date' ? exclusion.date : exclusion.cron
  return (at) => (set && holdsAt(set, at) ? { detail, untilAt: endOfStretch(set, at) } : null)
}

/** Null for a range, which is no matter of walls. */
export function wallSetOf(exclusion: Exclusion): WallSet | null {
  if (exclusion.kind === 'range') return null
  const zone = timeZone(exclusion.timezone)
  if (exclusion.kind === 'date')
    return { kind: 'date', zone, day: Math.floor(Date.parse(`${exclusion.date}T00:00:00Z`) / DAY_MS) }
  const name = `${zone.name} ${exclusion.cron}`
  const known = timed.get(name)
  if (known) return known
  const tree = readCron(exclusion.cron, '')
  if (tree.kind !== 'fields') return null
  const pattern = wallPattern(tree.fields)
  // Fewer than six fields name minutes, each of which is left out as a whole.
  const isBySecond = exclusion.cron.trim().split(/\s+/).length > 5
  const times = isBySecond ? pattern.times : wholeMinutes(pattern.times)
  const made = { kind: 'times', zone, pattern, times } as const
  timed.offer(name, made)
  return made
}

/** Schedules are planned again and again, and reading a hundred expressions takes longer than the rest of it. */
const timed = interning<WallSet>(2000)

function inRange({ fromAt, toAt }: Extract<Exclusion, { kind: 'range' }>, at: number): Excluded | null {
  if (at < fromAt || at >= toAt) return null
  return { detail: `${new Date(fromAt).toISOString()}/${new Date(toAt).toISOString()}`, untilAt: toAt }
}

function holdsAt(set: WallSet, at: number): boolean {
  const { zone } = set
  return holdsOnWall(set, at + zone.offset[segmentAt(zone, at)]!)
}

function holdsOnWall(set: WallSet, wall: number): boolean {
  const day = Math.floor(wall / DAY_MS)
  if (set.kind === 'date') return day === set.day
  return isTimeListed(set.times, ((wall - day * DAY_MS) / SECOND_MS) | 0) && isDayListed(set.pattern, day)
}

function isDayListed(pattern: WallPattern, day: number): boolean {
  const packed = yearMonth(day)
  const start = monthStart(Math.floor(packed / 16), packed & 15)
  return ((daysOfMonth(pattern, packed, start) >>> (day - start)) & 1) === 1
}

/** Stretches of one exclusion that are looked at together: whole days, and segments between clock changes. */
const MAX_DAYS = 400
const MAX_SEGMENTS = 10

/** The first instant after `at` at which it does not hold, or a nearer one: what goes on is found by the next look. */
function endOfStretch(set: WallSet, at: number): number {
  const { zone } = set
  let segment = segmentAt(zone, at)
  let from = at
  for (let seen = 0; ; seen++) {
    const offset = zone.offset[segment]!
    const end = wallEnd(set, from + offset) - offset
    const changeAt = zone.at[segment + 1]!
    if (end < changeAt) return end
    if (seen === MAX_SEGMENTS || !holdsOnWall(set, changeAt + zone.offset[segment + 1]!)) return changeAt
    segment++
    from = changeAt
  }
}

/** The first wall time after `wall` at which it does not hold, were there no clock changes. */
function wallEnd(set: WallSet, wall: number): number {
  if (set.kind === 'date') return (set.day + 1) * DAY_MS
  let day = Math.floor(wall / DAY_MS)
  let second = unlistedFrom(set.times, ((wall - day * DAY_MS) / SECOND_MS) | 0)
  for (let days = 0; second === 86_400 && days < MAX_DAYS; days++) {
    day++
    second = isDayListed(set.pattern, day) ? unlistedFrom(set.times, 0) : 0
  }
  return day * DAY_MS + second * SECOND_MS
}
