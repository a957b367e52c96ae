/** Finds a zone's offset changes from 1970 to 2100 by asking this Node's own Intl; whether to ask it at all is `time-zone.ts`'s choice. */
import { DAY_MS, SECOND_MS } from './calendar.ts'
import type { OffsetTable } from './zone-table.ts'

const FROM = Date.UTC(1969, 11, 31)
const TO = Date.UTC(2101, 0, 2)
// Changes have come as close as 6 days and 23 hours (Brazil in 2000, Gaza around Ramadan), so a step never holds two.
const STEP_MS = 6 * DAY_MS

/** The runtime's spelling of a name, or undefined when it does not know the zone. */
export function runtimeName(name: string): string | undefined {
  const answered = formatter(name)?.resolvedOptions().timeZone
  if (answered === undefined) return undefined
  // Intl answers some links by their target: only an answer that differs in letter case alone is the name's own spelling.
  const lower = name.toLowerCase()
  return [answered, ...Intl.supportedValuesOf('timeZone')].find((known) => known.toLowerCase() === lower) ?? lower
}

/** The table of a zone that the runtime knows; a few thousand questions to Intl, so ask once per zone. */
export function runtimeTable(name: string): OffsetTable {
  const format = formatter(name)!
  const at = [Number.NEGATIVE_INFINITY]
  const offset = [offsetAt(format, FROM)]
  for (let t = FROM; t < TO; t += STEP_MS) {
    const later = offsetAt(format, t + STEP_MS)
    if (later === offset.at(-1)) continue
    at.push(changeWithin(format, t, later))
    offset.push(later)
  }
  at.push(Number.POSITIVE_INFINITY)
  return { at: Float64Array.from(at), offset: Int32Array.from(offset) }
}

/** Bisects the step that begins at `from` to the second at which the offset `later` begins. */
function changeWithin(format: Intl.DateTimeFormat, from: number, later: number): number {
  let low = from / SECOND_MS
  let high = (from + STEP_MS) / SECOND_MS
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(format, middle * SECOND_MS) === later) high = middle
    else low = middle
  }
  return high * SECOND_MS
}

function offsetAt(format: Intl.DateTimeFormat, t: number): number {
  const [month, day, year, hour, minute, second] = format.format(t).match(/\d+/g)!.map(Number)
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) - t
}

function formatter(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}
