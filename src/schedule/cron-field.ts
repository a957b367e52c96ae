/** The seven fields of a cron expression and the shapes an item of one can take; reading text into them is `cron-field-reader.ts`. */

export type FieldName = 'second' | 'minute' | 'hour' | 'day' | 'month' | 'weekday' | 'year'

export interface FieldSpec {
  readonly name: FieldName
  readonly label: string
  readonly min: number
  readonly max: number
  /** Where `*`, `a/n` and `H` end: a weekday of 7 is another name for 0, and `H` keeps to days every month has. */
  readonly lastStep: number
  readonly lastHash: number
  /** Three-letter names; the first stands for `min`. */
  readonly names?: readonly string[]
}

const spec = (name: FieldName, label: string, [min, max]: readonly [number, number]): FieldSpec => ({
  name,
  label,
  min,
  max,
  lastStep: max,
  lastHash: max,
})

export const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'] as const
export const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const

/** In the order they are written; five fields are minute to weekday, six have the second in front, seven the year behind. */
export const FIELD_SPECS: readonly FieldSpec[] = [
  spec('second', 'second', [0, 59]),
  spec('minute', 'minute', [0, 59]),
  spec('hour', 'hour', [0, 23]),
  { ...spec('day', 'day of month', [1, 31]), lastHash: 28 },
  { ...spec('month', 'month', [1, 12]), names: MONTHS },
  { ...spec('weekday', 'weekday', [0, 7]), lastStep: 6, lastHash: 6, names: WEEKDAYS },
  spec('year', 'year', [1970, 2199]),
]

export type Item =
  // `*`, `*/n` or `?`.
  | { readonly kind: 'all'; readonly from: number; readonly to: number; readonly step: number }
  /** `a`, `a-b`, `a-b/n`, and `a/n` which is open to the field's end. */
  | {
      readonly kind: 'range'
      readonly from: number
      readonly to: number
      readonly step: number
      readonly open: boolean
    }
  /** `H`, `H/n`, `H(a-b)`, `H(a-b)/n`, already resolved to the values from `from` to `to` by `step`. */
  | { readonly kind: 'hash'; readonly from: number; readonly to: number; readonly step: number }
  /** `L` and `L-n`. */
  | { readonly kind: 'last-day'; readonly before: number }
  /** `LW` and `L-nW`. */
  | { readonly kind: 'last-workday'; readonly before: number }
  /** `15W`. */
  | { readonly kind: 'near-workday'; readonly day: number }
  /** `5L` and `5#L`. */
  | { readonly kind: 'last-weekday'; readonly weekday: number }
  /** `5#2`. */
  | { readonly kind: 'nth-weekday'; readonly weekday: number; readonly nth: number }

export interface Field {
  readonly name: FieldName
  readonly text: string
  readonly items: readonly Item[]
  /** The text starts with `*` or `+` or is `?`: a day must then match both day fields, otherwise either. */
  readonly both: boolean
  // Some item is `*` or `*/n`: decides which clock-change rule holds.
  readonly wild: boolean
}
