/** Formats one object as lines of name and value; leaves out empty values and prints nested values as JSON. */
import { jsonText, printable, rowsText, type View, width } from './print.ts'

/** `more` are rows after those of the fields. */
export function detailsText(
  body: Readonly<Record<string, unknown>>,
  view: View,
  more: readonly (readonly [name: string, text: string])[] = [],
): string {
  const fields = Object.entries(body)
    .filter(([, value]) => !isEmpty(value))
    .map(([name, value]) => [name, typeof value === 'string' ? value : jsonText(value)] as const)
  const rows = [...fields, ...more]
  if (!view.terminal) return rowsText([], rows, view)
  const widest = Math.max(0, ...rows.map(([name]) => width(name)))
  return rows
    .map(([name, value]) => `  ${view.colours.dim(printable(name).padEnd(widest))}  ${printable(value)}\n`)
    .join('')
}

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value as object).length === 0)
