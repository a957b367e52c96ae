/** All exclusions of a timing as one: those of a zone are merged day by day, so that a hundred expressions are searched like one; a single one is `exclusion.ts`. */
import { DAY_MS, monthStart, SECOND_MS, yearMonth } from './calendar.ts'
import { type Excluded, type Excluder, excluderOf, type WallSet, wallSetOf } from './exclusion.ts'
import type { Exclusion } from './schedule.ts'
import type { SearchBudget } from './search-budget.ts'
import { addTimes } from './time-of-day.ts'
import { segmentAt, type TimeZone } from './time-zone.ts'
import { daysOfMonth } from './wall-pattern.ts'

export interface Exclusions {
  /** The first of them, in the order given, that holds at `at`. */
  whyAt(at: number): Excluded | null
  /** The first instant from `at` on at which none holds. With the budget spent, or beyond `until`, what lies there is not known. */
  freeFrom(at: number, until: number, budget: SearchBudget): number
}

/** The first instant from the given one on that is free, as far as one kind of exclusion knows. */
type Free = (at: number, until: number, budget: SearchBudget) => number

export function exclusionsOf(list: readonly Exclusion[]): Exclusions {
  const sets = list.map(wallSetOf)
  const excluders: readonly Excluder[] = list.map((each, i) => excluderOf(each, sets[i]!))
  let frees: readonly Free[] | null = null
  return {
    whyAt(at) {
      for (const excluder of excluders) {
        const found = excluder(at)
        if (found) return found
      }
      return null
    },
    freeFrom(at, until, budget) {
      frees ??= [...freeOfRanges(list), ...byZone(sets)]
      let free = at
      for (;;) {
        const from = free
        for (const find of frees) free = find(free, until, budget)
        if (frees.length === 1 || free === from || free > until || budget.left <= 0) return free
      }
    },
  }
}

function freeOfRanges(list: readonly Exclusion[]): Free[] {
  const ranges = list.filter((each) => each.kind === 'range').sort((a, b) => a.fromAt - b.fromAt)
  const free: Free = (at, _, budget) => {
    budget.left -= ranges.length / 8
    let freeAt = at
    for (const { fromAt, toAt } of ranges) if (fromAt <= freeAt && freeAt < toAt) freeAt = toAt
    return freeAt
  }
  return ranges.length > 0 ? [free] : []
}

function byZone(sets: readonly (WallSet | null)[]): Free[] {
  const zones = new Map<TimeZone, WallSet[]>()
  for (const set of sets) if (set) zones.set(set.zone, [...(zones.get(set.zone) ?? []), set])
  return [...zones].map(([zone, own]) => freeOfZone(zone, mergedDays(own)))
}

/** The seconds of a day that are left out. */
type Day = 'none' | 'all' | Int32Array

const WORD = 30
const FULL_WORD = 0x3fffffff
const WORDS = 86_400 / WORD

function freeOfZone(zone: TimeZone, dayOf: (day: number, budget: SearchBudget) => Day): Free {
  return (at, until, budget) => {
    let free = at
    while (free <= until && budget.left > 0) {
      const segment = segmentAt(zone, free)
      const [offset, changeAt] = [zone.offset[segment]!, zone.at[segment + 1]!]
      const wall = free + offset
      const day = Math.floor(wall / DAY_MS)
      const found = dayOf(day, budget)
      if (found === 'none') return free
      const second = ((wall - day * DAY_MS) / SECOND_MS) | 0
      const open = found === 'all' ? 86_400 : firstOpen(found, second)
      if (open === second) return free
      free = Math.min(day * DAY_MS + open * SECOND_MS - offset, changeAt)
    }
    return free
  }
}

/** The first second from `from` on that is not left out; the end of the day when there is none. */
function firstOpen(words: Int32Array, from: number): number {
  let word = (from / WORD) | 0
  let open = ~words[word]! & FULL_WORD & (-1 << (from % WORD))
  while (open === 0 && ++word < WORDS) open = ~words[word]! & FULL_WORD
  return open === 0 ? 86_400 : word * WORD + 31 - Math.clz32(open & -open)
}

/** Days that differ in which expressions name them; more are merged again. */
const MAX_KEPT = 64
/** Steps that it takes to merge one expression into a day. */
const MERGE_STEPS = 20

/** The days of one zone, each merged once for all days that the same expressions name. */
function mergedDays(sets: readonly WallSet[]): (day: number, budget: SearchBudget) => Day {
  const dates = new Set(sets.flatMap((set) => (set.kind === 'date' ? [set.day] : [])))
  const timed = sets.filter((set) => set.kind === 'times')
  const masks = new Int32Array(timed.length)
  const kept = new Map<string, Day>()
  let [month, start] = [-1, 0]
  let last: { readonly day: number; readonly is: Day } = { day: Number.NaN, is: 'none' }

  const merge = (name: string, day: number): Day => {
    const words = new Int32Array(WORDS)
    for (const [i, { times }] of timed.entries()) if ((masks[i]! >>> day) & 1) addTimes(times, words)
    const is = words.every((word) => word === FULL_WORD) ? 'all' : words
    if (kept.size >= MAX_KEPT) kept.clear()
    kept.set(name, is)
    return is
  }

  return (day, budget) => {
    budget.left -= 1
    if (day === last.day) return last.is
    budget.left -= timed.length / 16
    let is: Day = dates.has(day) ? 'all' : 'none'
    const packed = yearMonth(day)
    if (packed !== month) {
      month = packed
      start = monthStart(Math.floor(packed / 16), packed & 15)
      budget.left -= timed.length / 4
      for (const [i, { pattern }] of timed.entries()) masks[i] = daysOfMonth(pattern, packed, start)
    }
    if (is === 'none') {
      const named = namesOf(masks, day - start)
      if (named.count > 0) {
        const known = kept.get(named.name)
        if (!known) budget.left -= named.count * MERGE_STEPS
        is = known ?? merge(named.name, day - start)
      }
    }
    last = { day, is }
    return is
  }
}

/** Which of the expressions name a day of the month, as text. */
function namesOf(masks: Int32Array, day: number): { readonly name: string; readonly count: number } {
  let [name, bits, count] = ['', 0, 0]
  for (let i = 0; i < masks.length; i++) {
    const bit = (masks[i]! >>> day) & 1
    bits |= bit << (i & 15)
    count += bit
    if ((i & 15) === 15 || i === masks.length - 1) {
      name += String.fromCharCode(bits)
      bits = 0
    }
  }
  return { name, count }
}
