/** Formats instants for the CLI: in local time of a zone, in UTC, and as a duration from now. */
import { segmentAt, type TimeZone } from '../schedule/time-zone.ts'
import { offsetText } from '../schedule/wall-text.ts'

/** `2026-03-08T07:00:00Z`; milliseconds appear only where there are some. */
export const utcText = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z')

/** `Mon 2026-11-16 09:00 -05:00` for each; seconds and milliseconds appear in all of them or in none. */
export function nominalTexts(instants: readonly number[], zone: TimeZone): string[] {
  const shown = instants.map((at) => {
    const offset = zone.offset[segmentAt(zone, at)]!
    return { wall: at + offset, offset }
  })
  const end = shown.some(({ wall }) => wall % 1000 !== 0) ? 23 : shown.some(({ wall }) => wall % 60_000 !== 0) ? 19 : 16
  return shown.map(({ wall, offset }) => {
    const iso = new Date(wall).toISOString()
    const weekday = new Date(wall).toUTCString().slice(0, 3)
    return `${weekday} ${iso.slice(0, 10)} ${iso.slice(11, end)} ${offsetText(offset)}`
  })
}

const UNITS: readonly (readonly [unit: string, seconds: number])[] = [
  ['y', 365 * 86_400],
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
]

/** `18h 43m`: the largest unit and the next one, which is precise enough. */
export function distanceText(ms: number): string {
  if (ms < 1000) return `${ms}ms`
  const seconds = Math.floor(ms / 1000)
  const first = UNITS.findIndex(([, size]) => seconds >= size)
  const [unit, size] = UNITS[first]!
  const whole = `${Math.floor(seconds / size)}${unit}`
  const below = UNITS[first + 1]
  const rest = below ? Math.floor((seconds % size) / below[1]) : 0
  return rest > 0 ? `${whole} ${rest}${below![0]}` : whole
}
