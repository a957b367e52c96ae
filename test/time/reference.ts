/**
 * The slow, obvious answer to "which instants?": walks a zone's clock tick by tick and applies the clock-change rules as they
 * are worded. It shares no line with the engine; only the zone's table of offsets is taken as given (proven elsewhere).
 */
import { type ReferenceFields, readFields } from './reference-fields.ts'

export interface ZoneTable {
  readonly at: ArrayLike<number>
  readonly offset: ArrayLike<number>
}
export interface ReferenceDst {
  readonly gap?: 'shift' | 'skip' | undefined
  readonly fold?: 'first' | 'second' | 'both' | undefined
}
export interface Reference {
  /** Every occurrence with `from` <= occurrence < `to`; meant for windows of a few days. */
  within(from: number, to: number): number[]
  /** The first occurrence after `after`, looking at one calendar day after the other, for up to `years`. */
  next(after: number, years?: number): number | null
  prev(before: number, years?: number): number | null
  readonly fields: ReferenceFields
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Changes of up to three hours are clock changes, longer ones calendar changes; twice that is margin enough around a window. */
const CLOCK_CHANGE = 3 * HOUR
const MARGIN = 2 * CLOCK_CHANGE

interface Gap {
  readonly firstMissing: number
  readonly firstAfter: number
  /** The instant at which the clock shows `firstAfter`. */
  readonly instant: number
}
interface Walk {
  /** Real instants, and what the clock on the wall shows at each (as if it were UTC). */
  readonly instants: number[]
  readonly walls: number[]
  readonly gaps: Gap[]
}

/** Looks at the clock at every tick from `from` to `to`. */
function walk(zone: ZoneTable, from: number, to: number, wholeMinutes: boolean): Walk {
  let index = 0
  while (zone.at[index + 1]! <= from) index += 1
  let tick = wholeMinutes ? MINUTE : SECOND
  for (let near = index; zone.at[near]! < to; near += 1) {
    // Monrovia kept a clock 44 minutes and 30 seconds slow until 1972: whole minutes there are no whole minutes of ours.
    if (zone.offset[near]! % MINUTE !== 0) tick = SECOND
  }
  const found: Walk = { instants: [], walls: [], gaps: [] }
  let before: number | undefined
  for (let instant = Math.floor(from / tick) * tick; instant < to; instant += tick) {
    while (zone.at[index + 1]! <= instant) index += 1
    const wall = instant + zone.offset[index]!
    if (before !== undefined && wall > before + tick) {
      found.gaps.push({ firstMissing: before + tick, firstAfter: wall, instant })
    }
    found.instants.push(instant)
    found.walls.push(wall)
    before = wall
  }
  return found
}

function onListedDay(fields: ReferenceFields, wall: number): boolean {
  const date = new Date(wall)
  return fields.day(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
}

const floorMod = (value: number, by: number): number => ((value % by) + by) % by

function listedTime(fields: ReferenceFields, wall: number): boolean {
  return (
    fields.minute.has(floorMod(Math.floor(wall / MINUTE), 60)) &&
    fields.second.has(floorMod(Math.floor(wall / SECOND), 60)) &&
    fields.hour.has(floorMod(Math.floor(wall / HOUR), 24))
  )
}

/** Rule 3: every instant whose wall time is listed, and no other. */
function natural(fields: ReferenceFields, seen: Walk): number[] {
  return seen.instants.filter((_, index) => {
    const wall = seen.walls[index]!
    return listedTime(fields, wall) && onListedDay(fields, wall)
  })
}

/** Which of the instants that show one wall time are meant. */
function chosenPasses(passes: readonly number[], fold: ReferenceDst['fold']): readonly number[] {
  if (passes.length < 2) return passes
  if (passes.at(-1)! - passes[0]! > CLOCK_CHANGE) return passes
  if (fold === 'both') return passes
  return fold === 'second' ? passes.slice(-1) : passes.slice(0, 1)
}

/** Rules 1, 2, 4 and 6: each listed wall time of each listed day, where the clock shows it once, twice or never. */
function wallClock(fields: ReferenceFields, seen: Walk, dst: ReferenceDst): number[] {
  const passes = new Map<number, number[]>()
  seen.walls.forEach((wall, index) => {
    if (!listedTime(fields, wall)) return
    const known = passes.get(wall)
    if (known) known.push(seen.instants[index]!)
    else passes.set(wall, [seen.instants[index]!])
  })
  const found = new Set<number>()
  for (const [wall, instants] of passes) {
    if (!onListedDay(fields, wall)) continue
    for (const instant of chosenPasses(instants, dst.fold ?? (fields.elapsedLike ? 'both' : 'first')))
      found.add(instant)
  }
  for (const gap of seen.gaps) {
    if (gap.firstAfter - gap.firstMissing > CLOCK_CHANGE || dst.gap === 'skip') continue
    for (let wall = gap.firstMissing; wall < gap.firstAfter; wall += SECOND) {
      if (listedTime(fields, wall) && onListedDay(fields, wall)) found.add(gap.instant)
    }
  }
  return [...found].sort((a, b) => a - b)
}

export function reference(expression: string, zone: ZoneTable, dst: ReferenceDst = {}): Reference {
  const fields = readFields(expression)
  const within = (from: number, to: number): number[] => {
    const seen = walk(zone, from - MARGIN, to + MARGIN, fields.wholeMinutes)
    const found = fields.starredHour ? natural(fields, seen) : wallClock(fields, seen, dst)
    return found.filter((instant) => instant >= from && instant < to)
  }
  /** No zone is more than a day away from UTC, so an empty neighbourhood of days needs no walk. */
  const worthWalking = (from: number): boolean => [-1, 0, 1, 2].some((days) => onListedDay(fields, from + days * DAY))

  return {
    fields,
    within,
    next(after, years = 9) {
      for (let from = after + 1; from < after + years * 366 * DAY; from += DAY) {
        const found = worthWalking(from) ? within(from, from + DAY)[0] : undefined
        if (found !== undefined) return found
      }
      return null
    },
    prev(before, years = 9) {
      for (let to = before; to > before - years * 366 * DAY; to -= DAY) {
        const found = worthWalking(to - DAY) ? within(to - DAY, to).at(-1) : undefined
        if (found !== undefined) return found
      }
      return null
    },
  }
}
