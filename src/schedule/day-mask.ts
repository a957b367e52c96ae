/** Which days of a month an expression's two day fields choose, as one 31-bit mask; depends only on length and first weekday. */

import { fieldBits } from './cron-bits.ts'
import type { Field, Item } from './cron-field.ts'

const validDays = (length: number): number => (length === 31 ? 0x7fffffff : (1 << length) - 1)
const bit = (day: number, length: number): number => (day >= 1 && day <= length ? 1 << (day - 1) : 0)

/** Vixie cron's rule: both fields restricted means either; if one starts with `*`, or the weekday with `+`, both must match. */
export function dayMask(fields: { day: Field; weekday: Field }, length: number, first: number): number {
  const { day, weekday } = fields
  const days = monthDays(day, length, first)
  const weekdays = monthWeekdays(weekday, length, first)
  return (day.both || weekday.both ? days & weekdays : days | weekdays) & validDays(length)
}

/** Whether plain values alone make sure that no month passes without a chosen day; false means that only a search can tell. */
export function choosesEveryMonth(day: Field, weekday: Field): boolean {
  const early = day.items.some((item) => 'from' in item && item.from <= 28)
  const weekly = weekday.items.some((item) => 'from' in item)
  if (!day.both && !weekday.both) return early || weekly
  return (isFree(day) && weekly) || (isFree(weekday) && early)
}

const isFree = (field: Field): boolean => field.items.some((item) => item.kind === 'all' && item.step === 1)

function monthDays(field: Field, length: number, first: number): number {
  let mask = fieldBits(field) >>> 1
  for (const item of field.items) mask |= specialDay(item, length, first)
  return mask
}

function specialDay(item: Item, length: number, first: number): number {
  switch (item.kind) {
    case 'last-day':
      return bit(length - item.before, length)
    case 'last-workday':
      return item.before >= length ? 0 : bit(nearWorkday(length - item.before, length, first), length)
    case 'near-workday':
      return item.day > length ? 0 : bit(nearWorkday(item.day, length, first), length)
    default:
      return 0
  }
}

/** The Monday-to-Friday day nearest to `day` that stays inside the month. */
function nearWorkday(day: number, length: number, first: number): number {
  const weekday = (first + day - 1) % 7
  if (weekday === 6) return day > 1 ? day - 1 : day + 2
  if (weekday === 0) return day < length ? day + 1 : day - 2
  return day
}

function monthWeekdays(field: Field, length: number, first: number): number {
  const bits = fieldBits(field)
  const week = (bits & 0x7f) | (bits >>> 7 && 1)
  const turned = ((week >>> first) | (week << (7 - first))) & 0x7f
  let mask = turned | (turned << 7) | (turned << 14) | (turned << 21) | (turned << 28)
  for (const item of field.items) mask |= specialWeekday(item, length, first)
  return mask
}

function specialWeekday(item: Item, length: number, first: number): number {
  if (item.kind !== 'last-weekday' && item.kind !== 'nth-weekday') return 0
  const earliest = 1 + ((item.weekday - first + 7) % 7)
  if (item.kind === 'nth-weekday') return bit(earliest + 7 * (item.nth - 1), length)
  return bit(earliest + 7 * Math.floor((length - earliest) / 7), length)
}
