/** Reads the option `exclude`: dates, date ranges, spans and cron expressions; `schedule/exclusion.ts` applies them. */
import { shown } from '../errors.ts'
import { checkKeys, type Instant, named, readInstantOption, readList, refused } from '../options.ts'
import { parseCron } from '../schedule/cron.ts'
import { refuseNever } from '../schedule/never.ts'
import type { Exclusion } from '../schedule/schedule.ts'
import { segmentAt, timeZone } from '../schedule/time-zone.ts'
import { dateText } from '../schedule/wall-text.ts'
import { systemClock } from '../time/clock.ts'

export type ExcludeOption =
  /** A date, a date range or a cron expression, in the time zone of the schedule. */
  | string
  /** A span between two instants; dates without a time are whole days, the last day included. */
  | { readonly from: Instant; readonly to: Instant }
  /** A cron expression, in the time zone of the schedule unless it has its own. */
  | { readonly cron: string; readonly timezone?: string }

const MAX_EXCLUSIONS = 100
const DAY_MS = 86_400_000
const DATE = /^\d{4}-\d\d-\d\d$/
const HOW = 'write a date like 2026-12-25, a range like 2026-12-24/2027-01-02, or a cron expression'

/** An empty list is the same as no list. */
export function readExclusions(given: unknown, what: string, zone: string): { exclude?: readonly Exclusion[] } {
  const list = readList(given, what, [0, MAX_EXCLUSIONS])
  const read = list.map((each, i) => Object.freeze(readExclusion(each, `${what}[${i}]`, zone)))
  return read.length === 0 ? {} : { exclude: Object.freeze(read) }
}

function readExclusion(given: unknown, what: string, zone: string): Exclusion {
  if (typeof given === 'string') return readText(given, what, zone)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw refused(`${what} cannot be ${shown(given)}`, HOW)
  }
  if ('cron' in given) {
    checkKeys(given, ['cron', 'timezone'], what)
    const { cron, timezone } = given as { cron: unknown; timezone?: string }
    return readCron(cron, what, timezone ?? zone)
  }
  checkKeys(given, ['from', 'to'], what)
  const { from, to } = given as { from?: unknown; to?: unknown }
  return readRange(
    isDate(from) ? dayStart(readDate(from, `${what}.from`), zone) : readInstantOption(from, `${what}.from`),
    isDate(to) ? dayEnd(readDate(to, `${what}.to`), zone) : readInstantOption(to, `${what}.to`),
    what,
  )
}

/** Text that begins like a date is read as a date, because an error about a cron expression would not help. */
function readText(text: string, what: string, zone: string): Exclusion {
  if (!/^\s*\d{4}-/.test(text)) return readCron(text, what, zone)
  const [from = '', to, ...more] = text.split('/')
  if (to === undefined) return { kind: 'date', date: readDate(from, what), timezone: zone }
  if (more.length > 0) throw refused(`${what} cannot be ${shown(text)}`, HOW)
  return readRange(dayStart(readDate(from, what), zone), dayEnd(readDate(to, what), zone), what)
}

const isDate = (value: unknown): value is string => typeof value === 'string' && DATE.test(value)

function readDate(text: string, what: string): string {
  if (!isDate(text)) throw refused(`${what} cannot be ${shown(text)}`, HOW)
  readInstantOption(text, what)
  return text
}

function readRange(fromAt: number, toAt: number, what: string): Exclusion {
  if (fromAt < toAt) return { kind: 'range', fromAt, toAt }
  throw refused(`${what} ends before it begins`, 'swap its start and end')
}

function readCron(cron: unknown, what: string, timezone: string): Exclusion {
  try {
    const timing = parseCron(cron as string, { timezone })
    // The excluded times may all be in the past: code keeps declaring them.
    const now = systemClock.now()
    if (timing.prevAt(now) === null) refuseNever(timing, now)
    if (timing.kind === 'cron') return { kind: 'cron', cron: cron as string, timezone: timing.timezone }
  } catch (cause) {
    throw named(cause, what)
  }
  throw refused(`${what} is an interval, which cannot be excluded`, HOW)
}

/** The first instant of a day in local time; of the next day if the zone skipped the day. */
export function dayStart(date: string, timezone: string): number {
  const midnights = parseCron('0 0 * * *', { timezone })
  let at = Date.parse(`${date}T00:00:00Z`) - 2 * DAY_MS
  do at = midnights.nextAt(at)!
  while (dateOn(at, timezone) < date)
  return at
}

const dayEnd = (date: string, timezone: string): number =>
  dayStart(dateText(Date.parse(`${date}T00:00:00Z`) + DAY_MS), timezone)

/** The input that `readExclusions` reads back as this exclusion. */
export function toExclusionInput(exclusion: Exclusion, zone: string): ExcludeOption {
  switch (exclusion.kind) {
    case 'date':
      return exclusion.date
    case 'range':
      return wholeDays(exclusion, zone) ?? { from: new Date(exclusion.fromAt), to: new Date(exclusion.toAt) }
    case 'cron': {
      const { cron, timezone } = exclusion
      return timezone === zone ? cron : { cron, timezone }
    }
  }
}

function wholeDays({ fromAt, toAt }: { fromAt: number; toAt: number }, zone: string): string | null {
  try {
    const [first, last] = [dateOn(fromAt, zone), dateOn(toAt - 1, zone)]
    return dayStart(first, zone) === fromAt && dayEnd(last, zone) === toAt ? `${first}/${last}` : null
  } catch {
    // A row of a newer version may have a time zone that this version does not know.
    return null
  }
}

function dateOn(at: number, timezone: string): string {
  const zone = timeZone(timezone)
  return dateText(at + zone.offset[segmentAt(zone, at)]!)
}
