/** Reads a cron expression for the slow reference, from the written rules alone; placing it on a real clock is `reference.ts`'s part. */

export interface ReferenceFields {
  readonly second: ReadonlySet<number>
  readonly minute: ReadonlySet<number>
  readonly hour: ReadonlySet<number>
  /** The second, minute or hour field contains a star: both passes of a repeated hour run. */
  readonly elapsedLike: boolean
  /** The hour field contains a star: natural instants only, whatever `dst` says. */
  readonly starredHour: boolean
  /** Only minutes are named, so that a walk by minutes sees everything. */
  readonly wholeMinutes: boolean
  /** Whether the calendar day (month 1-12) is one of the expression's. */
  readonly day: (year: number, month: number, day: number) => boolean
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
  '@every_minute': '* * * * *',
  '@every_second': '* * * * * *',
}

export const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()
export const weekdayOf = (year: number, month: number, day: number): number =>
  new Date(Date.UTC(year, month - 1, day)).getUTCDay()

/** The numbers of one plain list item: star, number, range, each with or without a step. */
function numbers(item: string, low: number, high: number): number[] {
  const [range = '', step] = item.split('/')
  const [first = '', last] = range.split('-')
  const from = range === '*' || range === '?' ? low : Number(first)
  let to = from
  if (range === '*' || range === '?' || (last === undefined && step !== undefined)) to = high
  if (last !== undefined) to = Number(last)
  const found: number[] = []
  for (let value = from; value <= to; value += Number(step ?? 1)) found.push(value)
  return found
}

const set = (field: string, low: number, high: number): Set<number> =>
  new Set(field.split(',').flatMap((item) => numbers(item, low, high)))

/** Numbers for names, so that one reader serves both; longer words keep their tail (`friL`, `fri#2`). */
const unnamed = (field: string, names: readonly string[], base: number): string =>
  names.reduce((text, name, index) => text.replaceAll(name, String(index + base)), field)

/** The working day of the month that lies closest to `wanted`; a tie is impossible, weekends being two days long. */
function nearestWorkingDay(year: number, month: number, wanted: number): number | undefined {
  if (wanted > daysIn(year, month)) return undefined
  let best: number | undefined
  for (let day = 1; day <= daysIn(year, month); day += 1) {
    const weekday = weekdayOf(year, month, day)
    if (weekday === 0 || weekday === 6) continue
    if (best === undefined || Math.abs(day - wanted) < Math.abs(best - wanted)) best = day
  }
  return best
}

function dayOfMonthItem(item: string, year: number, month: number): number[] {
  const end = daysIn(year, month)
  if (item === 'l') return [end]
  if (item === 'lw') return [nearestWorkingDay(year, month, end)!]
  if (item.startsWith('l-') && item.endsWith('w')) {
    const wanted = end - Number(item.slice(2, -1))
    return wanted < 1 ? [] : [nearestWorkingDay(year, month, wanted)!]
  }
  if (item.startsWith('l-')) return [end - Number(item.slice(2))]
  if (item.endsWith('w')) return [nearestWorkingDay(year, month, Number(item.slice(0, -1))) ?? 0]
  return numbers(item, 1, 31)
}

function weekdayItem(item: string, year: number, month: number): number[] {
  const days: number[] = []
  const [weekday = '', nth] = item.split('#')
  for (let day = 1; day <= daysIn(year, month); day += 1) {
    const today = weekdayOf(year, month, day)
    if (nth === 'l') {
      if (today === Number(weekday) % 7 && day + 7 > daysIn(year, month)) days.push(day)
    } else if (nth !== undefined) {
      if (today === Number(weekday) % 7 && Math.ceil(day / 7) === Number(nth)) days.push(day)
    } else if (item.endsWith('l')) {
      if (today === Number(item.slice(0, -1)) % 7 && day + 7 > daysIn(year, month)) days.push(day)
    } else if (numbers(item, 0, 6).some((value) => value % 7 === today)) {
      days.push(day)
    }
  }
  return days
}

export function readFields(expression: string): ReferenceFields {
  const text = expression.trim().toLowerCase()
  const fields = (MACROS[text] ?? text).split(/\s+/)
  if (fields.length === 5) fields.unshift('0')
  const [second = '', minute = '', hour = '', dayOfMonth = '', monthText = '', weekdayText = '', yearText = '*'] =
    fields
  const years = yearText === '*' ? undefined : set(yearText, 1970, 2199)
  const months = set(unnamed(monthText, MONTHS, 1), 1, 12)
  // A range may close on Sunday by name: FRI-SUN is 5-7.
  const weekday = unnamed(weekdayText.replace(/^\+/, '').replaceAll('-sun', '-7'), WEEKDAYS, 0)
  const starred = /^[*?]/.test(dayOfMonth) || /^[*?+]/.test(weekdayText)
  const calendar = new Map<number, ReadonlySet<number>>()

  /** The days of one month; remembered, because a walk asks for the same month again and again. */
  const daysOf = (year: number, month: number): ReadonlySet<number> => {
    const known = calendar.get(year * 12 + month)
    if (known) return known
    const byDate = new Set(dayOfMonth.split(',').flatMap((item) => dayOfMonthItem(item, year, month)))
    const byWeekday = new Set(weekday.split(',').flatMap((item) => weekdayItem(item, year, month)))
    const days = new Set<number>()
    for (let day = 1; day <= daysIn(year, month); day += 1) {
      const both = byDate.has(day) && byWeekday.has(day)
      const either = byDate.has(day) || byWeekday.has(day)
      if (months.has(month) && (starred ? both : either)) days.add(day)
    }
    calendar.set(year * 12 + month, days)
    return days
  }

  return {
    second: set(second, 0, 59),
    minute: set(minute, 0, 59),
    hour: set(hour, 0, 23),
    elapsedLike: `${second}${minute}${hour}`.includes('*'),
    starredHour: hour.includes('*'),
    wholeMinutes: second === '0',
    day: (year, month, day) => (years?.has(year) ?? true) && daysOf(year, month).has(day),
  }
}
