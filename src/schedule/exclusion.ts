/** Decides whether an exclusion holds at an instant, and until when; what that means for an occurrence is decided by `slots.ts`. */
import { parseCron } from './cron.ts'
import type { Exclusion } from './schedule.ts'
import { segmentAt, timeZone } from './time-zone.ts'
import type { Timing } from './timing.ts'
import { dateText } from './wall-text.ts'

export interface Excluded {
  /** Which exclusion, in the words it was given in. */
  readonly detail: string
  /** It holds for every instant from the one asked about up to, but not at, this one. */
  readonly untilAt: number
}

/** Asked about one instant after another, usually in their order. */
export type Excluder = (at: number) => Excluded | null

const SECOND_MS = 1000
const MINUTE_MS = 60_000
/** No day on any wall is further than this from the same day in UTC. */
const FAR_MS = 2 * 86_400_000

export const excludedAt = (exclusion: Exclusion, at: number): Excluded | null => excluderOf(exclusion)(at)

export function excluderOf(exclusion: Exclusion): Excluder {
  switch (exclusion.kind) {
    case 'range':
      return (at) => inRange(exclusion, at)
    case 'date':
      return byDate(exclusion)
    case 'cron':
      return byCron(exclusion)
  }
}

function inRange({ fromAt, toAt }: Extract<Exclusion, { kind: 'range' }>, at: number): Excluded | null {
  if (at < fromAt || at >= toAt) return null
  return { detail: `${new Date(fromAt).toISOString()}/${new Date(toAt).toISOString()}`, untilAt: toAt }
}

function byDate({ date, timezone }: Extract<Exclusion, { kind: 'date' }>): Excluder {
  const zone = timeZone(timezone)
  const midnights = parseCron('0 0 * * *', { timezone })
  const nearAt = Date.parse(`${date}T00:00:00Z`)
  return (at) => {
    if (Math.abs(at - nearAt) > FAR_MS) return null
    if (dateText(at + zone.offset[segmentAt(zone, at)]!) !== date) return null
    return { detail: date, untilAt: midnights.nextAt(at) ?? at + 1 }
  }
}

function byCron({ cron, timezone }: Extract<Exclusion, { kind: 'cron' }>): Excluder {
  const grainMs = cron.trim().split(/\s+/).length > 5 ? SECOND_MS : MINUTE_MS
  // A wall time that happens twice is left out both times, and one that does not happen leaves nothing out.
  const named = parseCron(cron, { timezone, dst: { gap: 'skip', fold: 'both' } })
  // Between two that it names there is nothing to look at again: a hundred rare expressions cost as little as one.
  let clear = { fromAt: 0, untilAt: 0 }
  return (at) => {
    if (at >= clear.fromAt && at < clear.untilAt) return null
    const fromAt = Math.floor(at / grainMs) * grainMs
    const next = named.nextAt(fromAt - 1) ?? Number.POSITIVE_INFINITY
    if (next === fromAt) return { detail: cron, untilAt: endOfStretch(named, { fromAt, grainMs }) }
    clear = { fromAt, untilAt: next }
    return null
  }
}

/** How many minutes in a row are looked at as one stretch: those of eight years. */
const MAX_STRETCH = 2 ** 22

/** Neighbours that are named too, found by counts: a month of minutes is not walked minute by minute. */
function endOfStretch(named: Timing, { fromAt, grainMs }: { fromAt: number; grainMs: number }): number {
  const isWhole = (length: number): boolean => named.countAt(fromAt - 1, fromAt + (length - 1) * grainMs) === length
  let low = 1
  while (low < MAX_STRETCH && isWhole(low * 2)) low *= 2
  let high = low * 2
  while (high - low > 1) {
    const middle = (low + high) / 2
    if (isWhole(middle)) low = middle
    else high = middle
  }
  return fromAt + low * grainMs
}
