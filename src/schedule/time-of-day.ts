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

const ALL_BITS = 0x3fffffff

/** The same times with every second of their minutes. */
export const wholeMinutes = (times: TimesOfDay): TimesOfDay => ({
  ...times,
  seconds: { low: ALL_BITS, high: ALL_BITS },
})

export const isTimeListed = ({ hours, minutes, seconds }: TimesOfDay, at: number): boolean => {
  const hour = (at / 3600) | 0
  return ((hours >>> hour) & 1) === 1 && has(minutes, ((at - hour * 3600) / 60) | 0) && has(seconds, at % 60)
}

const has = (set: Sixty, value: number): boolean =>
  ((value < 30 ? set.low >>> value : set.high >>> (value - 30)) & 1) === 1

/** The first value at or above `from` that is no member; 60 where there is none. */
function firstAbsent(set: Sixty, from: number): number {
  const found = atOrAbove({ low: ~set.low & ALL_BITS, high: ~set.high & ALL_BITS }, from)
  return found < 0 ? 60 : found
}

/** The first second of the day at or after `from` that is not listed; 86,400 where there is none. */
export function unlistedFrom({ hours, minutes, seconds }: TimesOfDay, from: number): number {
  const gap = firstAbsent(seconds, 0)
  let minute = ((from % 3600) / 60) | 0
  let second = from % 60
  for (let hour = (from / 3600) | 0; hour < 24; hour++) {
    const start = hour * 3600
    if (!((hours >>> hour) & 1)) return start + minute * 60 + second
    const open = firstAbsent(minutes, minute)
    if (open === minute) return start + minute * 60 + second
    const absent = firstAbsent(seconds, second)
    if (absent < 60) return start + minute * 60 + absent
    if (open === minute + 1 && open < 60) return start + open * 60
    if (gap < 60 && minute < 59) return start + (minute + 1) * 60 + gap
    if (gap === 60 && open < 60) return start + open * 60
    minute = 0
    second = 0
  }
  return 86_400
}

/** Adds the listed seconds to those of a day, which are kept in words of thirty bits. */
export function addTimes({ hours, minutes, seconds }: TimesOfDay, words: Int32Array): void {
  for (let hour = 0; hour < 24; hour++) {
    if (!((hours >>> hour) & 1)) continue
    for (let minute = 0; minute < 60; minute++) {
      if (!has(minutes, minute)) continue
      const at = (hour * 60 + minute) * 2
      words[at]! |= seconds.low
      words[at + 1]! |= seconds.high
    }
  }
}
