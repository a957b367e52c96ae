/** Reads a packed table of `zone-data.ts` into offset changes; which name it belongs to is decided by `time-zone.ts`. */
import { DAY_MS, monthStart, SECOND_MS, weekdayOf } from './calendar.ts'

export interface OffsetTable {
  /** UTC ms of each offset change, ascending; the first is -Infinity, the last +Infinity. */
  readonly at: Float64Array
  /** Milliseconds east of UTC; `offset[i]` holds for `at[i] <= t < at[i + 1]`. */
  readonly offset: Int32Array
}

const QUARTER_HOUR_MS = 900_000
const NUMBERS_PER_RULE = 5

/**
 * Packed form, numbers in base 36, parts separated by `|`:
 * the distinct offsets in seconds; one digit per segment choosing among them; the first change and then the distance to
 * each later one, in quarter hours with `.` before spare seconds; and, for zones that keep changing, the year from which
 * yearly rules take over, followed by five numbers per rule: month, earliest day, weekday, UTC second of the day, offset.
 */
export function unpackTable(packed: string, lastYear: number): OffsetTable {
  const [offsets = '', order = '', changes = '', rules = ''] = packed.split('|')
  const offsetMs = numbers(offsets).map((seconds) => seconds * SECOND_MS)
  const rule = numbers(rules)
  const explicit = order.length - 1
  const years = rule.length > 0 ? lastYear - rule[0]! + 1 : 0
  const perYear = Math.floor(rule.length / NUMBERS_PER_RULE)
  const at = new Float64Array(explicit + years * perYear + 2)
  const offset = new Int32Array(at.length - 1)

  at[0] = Number.NEGATIVE_INFINITY
  let t = 0
  const distances = changes.split(' ')
  for (let i = 0; i <= explicit; i++) {
    offset[i] = offsetMs[Number.parseInt(order[i]!, 36)]!
    if (i > 0) at[i] = t += distanceMs(distances[i - 1]!)
  }

  let next = explicit + 1
  for (let year = lastYear - years + 1; year <= lastYear; year++) {
    for (let r = 1; r < rule.length; r += NUMBERS_PER_RULE) {
      at[next] = ruleMs(year, rule, r)
      offset[next] = offsetMs[rule[r + 4]!]!
      next++
    }
  }
  at[next] = Number.POSITIVE_INFINITY
  return { at, offset }
}

/** The change that the rule starting at `rule[r]` makes in a year: its weekday on or after the earliest day. */
function ruleMs(year: number, rule: readonly number[], r: number): number {
  const earliest = monthStart(year, rule[r]!) + rule[r + 1]! - 1
  const wait = (rule[r + 2]! - weekdayOf(earliest) + 7) % 7
  return (earliest + wait) * DAY_MS + rule[r + 3]! * SECOND_MS
}

function distanceMs(text: string): number {
  const dot = text.indexOf('.')
  if (dot < 0) return Number.parseInt(text, 36) * QUARTER_HOUR_MS
  return (
    Number.parseInt(text.slice(0, dot), 36) * QUARTER_HOUR_MS + Number.parseInt(text.slice(dot + 1), 36) * SECOND_MS
  )
}

function numbers(text: string): number[] {
  return text === '' ? [] : text.split(' ').map((part) => Number.parseInt(part, 36))
}
