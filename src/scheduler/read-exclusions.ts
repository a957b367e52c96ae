/** Reads what a schedule leaves out: dates, ranges of dates, spans and cron expressions; whether one holds is `schedule/exclusion.ts`. */
import { shown } from '../errors.ts'
import { checkKeys, type Instant, named, readInstantOption, readList, refused } from '../options.ts'
import { parseCron } from '../schedule/cron.ts'
import { refuseNever } from '../schedule/never.ts'
import type { Exclusion } from '../schedule/schedule.ts'
import { segmentAt, timeZone } from '../schedule/time-zone.ts'
import { dateText } from '../schedule/wall-text.ts'
import { systemClock } from '../time/clock.ts'

export type ExcludeOption =
  /** A date, a range of dates or a cron expression; all in the zone of the schedule. */
  | string
  /** From one instant on, up to another; dates without a time are whole days, the last included. */
  | { readonly from: Instant; readonly to: Instant }
  /** In the zone of the schedule, unless it has one of its own. */
  | { readonly cron: string; readonly timezone?: string }

const MAX_EXCLUSIONS = 100
const DAY_MS = 86_400_000
const DATE = /^\d{4}-\d\d-\d\d$/
const HOW = 'write a date like 2026-12-25, a range like 2026-12-24/2027-01-02, or a cron expression'

/** None at all is the same as no list. */
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

/** What begins like a date is meant as one: nobody is helped by what is wrong with it as a cron expression. */
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
  throw refused(`${what} ends before it begins`, 'swap its ends')
}

function readCron(cron: unknown, what: string, timezone: string): Exclusion {
  try {
    const timing = parseCron(cron as string, { timezone })
    // What it leaves out may be over: code goes on declaring it.
    const now = systemClock.now()
    if (timing.prevAt(now) === null) refuseNever(timing, now)
    if (timing.kind === 'cron') return { kind: 'cron', cron: cron as string, timezone: timing.timezone }
  } catch (cause) {
    throw named(cause, what)
  }
  throw refused(`${what} is an interval, and only minutes that have a name can be left out`, HOW)
}

/** The first instant of a day on the wall of a zone; of the day after, where a zone left the day out. */
export function dayStart(date: string, timezone: string): number {
  const midnights = parseCron('0 0 * * *', { timezone })
  let at = Date.parse(`${date}T00:00:00Z`) - 2 * DAY_MS
  do at = midnights.nextAt(at)!
  while (dateOn(at, timezone) < date)
  return at
}

const dayEnd = (date: string, timezone: string): number =>
  dayStart(dateText(Date.parse(`${date}T00:00:00Z`) + DAY_MS), timezone)

/** The words that `readExclusions` reads as this exclusion again. */
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
    // A row of a newer version may have a zone that this one does not know.
    return null
  }
}

function dateOn(at: number, timezone: string): string {
  const zone = timeZone(timezone)
  return dateText(at + zone.offset[segmentAt(zone, at)]!)
}
