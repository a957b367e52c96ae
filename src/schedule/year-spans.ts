/** Which years a year field lists, as stretches of wall time; searching within them is `wall-pattern.ts`. */
import { DAY_MS, monthStart } from './calendar.ts'
import { fieldValues } from './cron-bits.ts'
import type { Field } from './cron-field.ts'

/** Whole years, from the first wall time of one up to, but not at, the first after another. */
export interface YearSpan {
  readonly from: number
  readonly to: number
}

/** Null where every year is listed: a `*` has no bounds, so that seven fields mean what six do. */
export function yearSpans(year: Field): readonly YearSpan[] | null {
  if (year.items.some((item) => item.kind === 'all' && item.step === 1)) return null
  const spans: YearSpan[] = []
  for (const value of fieldValues(year)) {
    const [from, to] = [startOf(value), startOf(value + 1)]
    const last = spans.at(-1)
    if (last?.to === from) spans[spans.length - 1] = { from: last.from, to }
    else spans.push({ from, to })
  }
  return spans
}

const startOf = (year: number): number => monthStart(year, 1) * DAY_MS
