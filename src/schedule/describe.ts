/** Says in one English sentence what a cron expression does, from the syntax tree that fires it; the words for days are `describe-days.ts`. */
import { fieldValues } from './cron-bits.ts'
import type { Field } from './cron-field.ts'
import { describeDays, describeMonths } from './describe-days.ts'
import { everyNth, joinAnd } from './english.ts'

/** More fixed times than this a day read better as a pattern. */
const MAX_FIXED_TIMES = 6

export function describeCron(tree: readonly Field[], timezone: string): string {
  const [second, minute, hour, day, month, weekday, year] = tree as [Field, Field, Field, Field, Field, Field, Field?]
  const days = describeDays(day, weekday)
  const months = describeMonths(month)
  const years = year && !isFree(year) ? yearsPhrase(year) : ''
  const dates = [months, years].filter((part) => part !== '').join(' of ')
  const spread = tree.some((field) => field.items.some((item) => item.kind === 'hash')) ? ', spread by H' : ''
  const fixed = fixedTimes(second, minute, hour)
  if (fixed) {
    const onDays = days === '' ? 'every day' : months === '' ? days : days.replaceAll(' of the month', '')
    return `${capital(onDays)}${dates === '' ? '' : ` in ${dates}`} at ${fixed} ${timezone}${spread}.`
  }
  const when = dates === '' ? '' : `in ${dates}`
  const parts = [timesPhrase(second, minute, hour), days, when].filter((part) => part !== '')
  const zone = isFree(hour) && parts.length === 1 ? '' : ` (${timezone})`
  return `${capital(parts.join(', '))}${zone}${spread}.`
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const pad = (value: number): string => String(value).padStart(2, '0')
const isFree = (field: Field): boolean => field.items.some((item) => item.kind === 'all' && item.step === 1)
const isZero = (field: Field): boolean =>
  field.items.every((item) => 'from' in item && item.from === 0 && item.to === 0)

/** `02:30`, or `02:30 and 14:30`, when the times of a day are few and none of the three fields is a wildcard. */
function fixedTimes(second: Field, minute: Field, hour: Field): string | undefined {
  if (second.wild || minute.wild || hour.wild) return undefined
  const [seconds, minutes, hours] = [fieldValues(second), fieldValues(minute), fieldValues(hour)]
  if (seconds.length * minutes.length * hours.length > MAX_FIXED_TIMES) return undefined
  const times = hours.flatMap((h) => minutes.flatMap((m) => seconds.map((s) => [h, m, s] as const)))
  return joinAnd(times.map(([h, m, s]) => `${pad(h)}:${pad(m)}${isZero(second) ? '' : `:${pad(s)}`}`))
}

function timesPhrase(second: Field, minute: Field, hour: Field): string {
  if (!isZero(second)) {
    const seconds = every(second, 'second', 60) ?? `at ${listed(second, 'second')}`
    const minutes = isFree(minute)
      ? isFree(second) || every(second, 'second', 60)
        ? ''
        : ' of every minute'
      : ` of ${inner(minute, 'minute')}`
    const hours = isFree(hour) ? (isFree(minute) ? '' : ' of every hour') : hoursPhrase(hour)
    return `${seconds}${minutes}${hours}`
  }
  const minutes = every(minute, 'minute', 60)
  if (minutes) return `${minutes}${isFree(hour) ? (isSteady(minutes) ? '' : ' of every hour') : hoursPhrase(hour)}`
  const values = fieldValues(minute)
  if (values.length === 1) {
    const at = `:${pad(values[0]!)}`
    const hours = every(hour, 'hour', 24)
    if (hours && isSteady(hours)) return `${hours} at ${at}`
    const stretch = oneStretch(fieldValues(hour))
    if (stretch) return `every hour from ${pad(stretch[0])}${at} to ${pad(stretch[1])}${at}`
  }
  return `at ${listed(minute, 'minute')}${isFree(hour) ? ' of every hour' : hoursPhrase(hour)}`
}

/** `2027`, `2026 to 2028 and 2030`, `every 2nd year from 2027 on`. */
function yearsPhrase(year: Field): string {
  const items = year.items.map((item) => (item.kind === 'all' ? { ...item, kind: 'range' as const, open: true } : item))
  return listed({ ...year, items }, 'year').replace(/^years? /, '')
}

/** A step that divides its unit keeps one distance for ever, so "every 5 minutes" is true of it; otherwise it restarts. */
const isSteady = (phrase: string): boolean => !/\d(st|nd|rd|th) /.test(phrase)

/** `every minute`, `every 5 minutes`, `every 7th minute`; undefined where the field is a list. */
function every(field: Field, unit: string, size: number): string | undefined {
  if (isFree(field)) return `every ${unit}`
  const [item, ...more] = field.items
  if (item?.kind !== 'all' || more.length > 0) return undefined
  return size % item.step === 0 && size !== item.step ? `every ${item.step} ${unit}s` : everyNth(item.step, unit)
}

/** The same inside "of …": `every 5th minute`, `minute 5`, `minutes 0 and 30`. */
function inner(field: Field, unit: string): string {
  const [item, ...more] = field.items
  return item?.kind === 'all' && more.length === 0 ? everyNth(item.step, unit) : listed(field, unit)
}

/** `minute 5`, `minutes 0, 15 and 30 to 40`. */
function listed(field: Field, unit: string): string {
  const parts = field.items.map((item) => {
    if (item.kind === 'all') return everyNth(item.step, unit)
    if (!('from' in item)) return ''
    if (item.from === item.to) return String(item.from)
    if (item.step === 1) return `${item.from} to ${item.to}`
    return `${everyNth(item.step, unit)} from ${item.from} ${item.kind === 'range' && item.open ? 'on' : `to ${item.to}`}`
  })
  if (parts.some((part) => part.startsWith('every')))
    return joinAnd(parts.map((part) => (/^\d/.test(part) ? `${unit} ${part}` : part)))
  return `${unit}${fieldValues(field).length === 1 ? '' : 's'} ${joinAnd(parts)}`
}

/** ` from 09:00 to 17:59` for one stretch of hours, ` in the hours 9, 12 and 15` otherwise. */
function hoursPhrase(hour: Field): string {
  const stretch = oneStretch(fieldValues(hour))
  if (stretch) return ` from ${pad(stretch[0])}:00 to ${pad(stretch[1])}:59`
  const [item, ...more] = hour.items
  if (item?.kind === 'all' && more.length === 0) return ` of ${everyNth(item.step, 'hour')}`
  return ` in ${listed(hour, 'hour').replace(/^hours /, 'the hours ')}`
}

/** First and last of values that follow each other without a hole. */
function oneStretch(values: readonly number[]): readonly [first: number, last: number] | undefined {
  const [first, last] = [values[0]!, values.at(-1)!]
  return last - first === values.length - 1 ? [first, last] : undefined
}
