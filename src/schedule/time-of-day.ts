/** Which seconds of a day the second, minute and hour fields list together; which days they apply to is `wall-pattern.ts`. */
import { bitCount, fieldBits, highestBit, lowestBit } from './cron-bits.ts'
import type { Field } from './cron-field.ts'

export interface TimesOfDay {
  readonly seconds: Sixty
  readonly minutes: Sixty
  readonly hours: number
  /** First and last listed second of the day, and how many there are. */
  readonly first: number
  readonly last: number
  readonly perDay: number
}

/** Sixty values in two halves of thirty bits. */
interface Sixty {
  readonly low: number
  readonly high: number
}

export function timesOfDay(second: Field, minute: Field, hour: Field): TimesOfDay {
  const seconds = sixty(second)
  const minutes = sixty(minute)
  const hours = fieldBits(hour)
  return {
    seconds,
    minutes,
    hours,
    first: lowestBit(hours) * 3600 + firstOf(minutes) * 60 + firstOf(seconds),
    last: highestBit(hours) * 3600 + lastOf(minutes) * 60 + lastOf(seconds),
    perDay: bitCount(hours) * sizeOf(minutes) * sizeOf(seconds),
  }
}

const sixty = (field: Field): Sixty => ({ low: fieldBits(field, 0, 30), high: fieldBits(field, 30, 30) })
const firstOf = (set: Sixty): number => (set.low ? lowestBit(set.low) : 30 + lowestBit(set.high))
const lastOf = (set: Sixty): number => (set.high ? 30 + highestBit(set.high) : highestBit(set.low))
const sizeOf = (set: Sixty): number => bitCount(set.low) + bitCount(set.high)

/** The first member at or above `from`, or -1. */
function atOrAbove(set: Sixty, from: number): number {
  if (from < 30) {
    const low = set.low & (-1 << from)
    if (low) return lowestBit(low)
    return set.high ? 30 + lowestBit(set.high) : -1
  }
  const high = from < 60 ? set.high & (-1 << (from - 30)) : 0
  return high ? 30 + lowestBit(high) : -1
}

/** The last member at or below `from`, or -1. */
function atOrBelow(set: Sixty, from: number): number {
  if (from >= 30) {
    const high = set.high & ((2 << (from - 30)) - 1)
    if (high) return 30 + highestBit(high)
    return set.low ? highestBit(set.low) : -1
  }
  const low = from >= 0 ? set.low & ((2 << from) - 1) : 0
  return low ? highestBit(low) : -1
}

const countBelow = (set: Sixty, value: number): number =>
  value < 30
    ? bitCount(set.low & ((1 << value) - 1))
    : bitCount(set.low) + bitCount(set.high & ((1 << (value - 30)) - 1))

/** The first listed second of the day at or after `from`, or -1. */
export function timeAtOrAfter(times: TimesOfDay, from: number): number {
  const hour = (from / 3600) | 0
  if ((times.hours >>> hour) & 1) {
    const minute = ((from - hour * 3600) / 60) | 0
    const second = atOrAbove(times.seconds, from % 60)
    const kept = atOrAbove(times.minutes, second < 0 ? minute + 1 : minute)
    if (kept === minute) return hour * 3600 + minute * 60 + second
    if (kept >= 0) return hour * 3600 + kept * 60 + firstOf(times.seconds)
  }
  const later = times.hours & (-2 << hour)
  return later ? lowestBit(later) * 3600 + (times.first % 3600) : -1
}

/** The last listed second of the day at or before `from`, or -1. */
export function timeAtOrBefore(times: TimesOfDay, from: number): number {
  const hour = (from / 3600) | 0
  if ((times.hours >>> hour) & 1) {
    const minute = ((from - hour * 3600) / 60) | 0
    const second = atOrBelow(times.seconds, from % 60)
    const kept = atOrBelow(times.minutes, second < 0 ? minute - 1 : minute)
    if (kept === minute) return hour * 3600 + minute * 60 + second
    if (kept >= 0) return hour * 3600 + kept * 60 + lastOf(times.seconds)
  }
  const earlier = times.hours & ((1 << hour) - 1)
  return earlier ? highestBit(earlier) * 3600 + (times.last % 3600) : -1
}

/** How many listed seconds of the day lie before `from`. */
export function timesBefore(times: TimesOfDay, from: number): number {
  if (from >= 86_400) return times.perDay
  const { seconds, minutes, hours } = times
  const hour = (from / 3600) | 0
  const whole = bitCount(hours & ((1 << hour) - 1)) * sizeOf(minutes) * sizeOf(seconds)
  if (!((hours >>> hour) & 1)) return whole
  const minute = ((from - hour * 3600) / 60) | 0
  const partial = atOrAbove(minutes, minute) === minute ? countBelow(seconds, from % 60) : 0
  return whole + countBelow(minutes, minute) * sizeOf(seconds) + partial
}
