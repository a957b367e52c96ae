/** Says which days and months a cron expression chooses; the times of day are `describe.ts`. */
import { fieldValues } from './cron-bits.ts'
import type { Field, Item } from './cron-field.ts'
import { everyNth, joinAnd, ordinal } from './english.ts'

const WEEKDAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
const MONTH_NAMES = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
const weekdayName = (n: number): string => WEEKDAY_NAMES[n % 7]!
const monthName = (n: number): string => MONTH_NAMES[n - 1]!

/** Empty when every day will do. */
export function describeDays(day: Field, weekday: Field): string {
  const days = isEvery(day, 31) ? '' : monthDays(day)
  const weekdays = isEvery(weekday, 7) ? '' : weekDays(weekday)
  if (day.both || weekday.both) return days && weekdays ? `${days} if it is ${ifOne(weekday)}` : days || weekdays
  // Both are restricted by vixie cron's rule, so either will do; a list of every day then swallows the other.
  return days && weekdays
    ? `${days} or ${weekdays.startsWith('on ') ? weekdays : `on ${weekdays.replace(/^every /, '')}`}`
    : ''
}

/** Empty when every month will do. */
export function describeMonths(month: Field): string {
  if (fieldValues(month).length === 12) return ''
  const steps = month.items.length === 1 && month.items[0]?.kind === 'all'
  return joinAnd(steps ? fieldValues(month).map(monthName) : month.items.flatMap((item) => spans(item, monthName)))
}

const isEvery = (field: Field, size: number): boolean =>
  new Set(fieldValues(field).map((v) => (field.name === 'weekday' ? v % 7 : v))).size === size

function monthDays(field: Field): string {
  const plain = field.items.filter((item) => 'from' in item)
  const [only] = plain
  const parts: string[] = []
  if (plain.length === 1 && only?.kind === 'all') parts.push(`${everyNth(only.step, 'day')} of the month`)
  else if (plain.length > 0) {
    const days = plain.flatMap((item) => spans(item, String))
    const one = days.length === 1 && /^\d+$/.test(days[0]!)
    parts.push(`day${one ? '' : 's'} ${joinAnd(days)} of the month`)
  }
  for (const item of field.items) {
    if (item.kind === 'last-day') parts.push(lastDay(item.before))
    else if (item.kind === 'last-workday') parts.push(lastWorkday(item.before))
    else if (item.kind === 'near-workday')
      parts.push(`the workday (Monday to Friday) nearest day ${item.day} of the month`)
  }
  return `on ${joinAnd(parts)}`
}

function lastWorkday(before: number): string {
  if (before === 0) return 'the last workday (Monday to Friday) of the month'
  return `the workday (Monday to Friday) nearest ${lastDay(before)}`
}

function lastDay(before: number): string {
  if (before === 0) return 'the last day of the month'
  return `the ${before === 1 ? 'day' : `${before}th day`.replace(/^\d+th/, ordinal(before))} before the last day of the month`
}

function weekDays(field: Field): string {
  const names = field.items.flatMap((item) => (item.kind === 'all' ? [] : spans(item, weekdayName)))
  const stars = field.items.some((item) => item.kind === 'all') ? fieldValues(field).map(weekdayName) : []
  const plain = stars.length > 0 ? stars : names
  const special = specialWeekdays(field)
  if (special.length > 0) return `on ${joinAnd([...plain, ...special])}`
  return plain.some((name) => name.includes(' to ')) ? joinAnd(plain) : `every ${joinAnd(plain)}`
}

const specialWeekdays = (field: Field): string[] =>
  field.items.flatMap((item) => {
    if (item.kind === 'last-weekday') return [`the last ${weekdayName(item.weekday)} of the month`]
    return item.kind === 'nth-weekday' ? [`the ${ordinal(item.nth)} ${weekdayName(item.weekday)} of the month`] : []
  })

/** The weekday side of "day 1 if it is a Monday". */
function ifOne(field: Field): string {
  const names = [...new Set(fieldValues(field).map(weekdayName))]
  const plain = names.map((name, i) => (i === 0 ? `a ${name}` : name))
  return joinAnd([...plain, ...specialWeekdays(field)], 'or')
}

/** The values of a plain item: single ones by name, three or more in a row as a span. */
function spans(item: Item, name: (n: number) => string): string[] {
  if (!('from' in item)) return []
  if (item.step === 1 && item.to - item.from >= 2) return [`${name(item.from)} to ${name(item.to)}`]
  const values: string[] = []
  for (let v = item.from; v <= item.to; v += item.step) values.push(name(v))
  return values
}
