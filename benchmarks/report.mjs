/**
 * What a measurement looks like, whether it met its target, and how it is printed. A row is
 * `{ id, what, unit, ours, rivals: { name: { value, ratio } }, must: null | { kind, value } }`. A must of kind `ratio` also
 * names the rival it is against; `least` and `most` are bounds of `ours`. A row may have besides:
 * - `aim: number`, what we would like `ours` to be, in the unit of the row;
 * - `better: 'more' | 'less'`, where neither the must nor the unit says it;
 * - `spread: [least, most]` and `rounds: [number]`, and `best`, the name of the best rival;
 * - `series: { x: [number], y: [number], xLabel, yLabel }`, how the figure grows, for a chart.
 */
import { amount, factsText, mustText, timesText } from './words.mjs'

/** Whether a row met its target; null for a row that has none. */
export function met({ ours, rivals, must }) {
  if (must === null) return null
  if (must.kind === 'ratio') return rivals[must.rival].ratio >= must.value
  return must.kind === 'least' ? ours >= must.value : ours <= must.value
}

/** Whether a row reached what we would like; null for a row of which we said nothing. */
export function aimMet(row) {
  if (typeof row.aim !== 'number') return null
  return betterOf(row) === 'more' ? row.ours >= row.aim : row.ours <= row.aim
}

/** Whether more or less of it is better. */
export function betterOf({ better, must, unit }) {
  if (better !== undefined) return better
  if (must?.kind === 'least') return 'more'
  if (must?.kind === 'most') return 'less'
  return unit.startsWith('/s') ? 'more' : 'less'
}

/** Null for a quick run: it shows that the benchmark works, and its figures mean nothing. */
export const verdict = (rows, quick) => (quick ? null : rows.every((row) => met(row) !== false))

export function reportText({ quick, ok, rows, ...result }) {
  const rivals = [...new Set(rows.flatMap((row) => Object.keys(row.rivals)))]
  const heading = ['', 'everytick', ...rivals.flatMap((name) => [name, 'times']), 'must', '', 'aim', '']
  const lines = rows.map((row) => [
    row.what,
    amount(row.ours, row.unit),
    ...rivals.flatMap((name) => {
      const rival = row.rivals[name]
      return rival ? [amount(rival.value, row.unit), timesText(rival.ratio)] : ['', '']
    }),
    mustText(row),
    quick || met(row) === null ? '' : met(row) ? 'ok' : 'MISS',
    aimMet(row) === null ? '' : amount(row.aim, row.unit),
    quick || !aimMet(row) ? '' : 'reached',
  ])
  return `${factsText(result)}\n\n${grid([heading, ...lines])}\n\n${closing(quick, ok)}\n`
}

/** The last word of every report. */
export const closing = (quick, ok) =>
  quick ? 'quick run: figures mean nothing' : ok ? 'every target met' : 'TARGET MISSED'

/** The first column reads from the left, figures line up on the right. */
function grid(lines) {
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)))
  const cell = (text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))
  return lines.map((line) => `  ${line.map(cell).join('  ')}`.trimEnd()).join('\n')
}
