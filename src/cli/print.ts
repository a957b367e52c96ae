/** Formats data: tables for a terminal, tab-separated rows for a pipe, JSON with --json. */
import picocolors from 'picocolors'
import { printable } from '../printable.ts'
import type { Surroundings } from './config.ts'

export { jsonText, printable } from '../printable.ts'

type Colours = ReturnType<typeof picocolors.createColors>

/** The output settings of a command. */
export interface View {
  readonly terminal: boolean
  readonly colours: Colours
}

export const viewOf = ({ terminal, outColours }: Surroundings): View => ({ terminal, colours: coloursFor(outColours) })

export const coloursFor = (wanted: boolean): Colours => picocolors.createColors(wanted)

/** A table with a heading on a terminal; otherwise tab-separated rows. */
export function rowsText(heading: readonly string[], rows: readonly (readonly string[])[], view: View): string {
  const safe = rows.map((row) => row.map(printable))
  if (!view.terminal) return safe.map((row) => `${row.join('\t')}\n`).join('')
  if (safe.length === 0) return `  ${view.colours.dim('none')}\n`
  const widths = heading.map((title, i) => Math.max(...[heading, ...safe].map((row) => width(row[i] ?? title))))
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - width(cell)))).join('  ')}`
  return `${[view.colours.dim(line(heading)), ...safe.map(line)].join('\n')}\n`
}

/** The display width, accurate enough for zone names and numbers. */
export const width = (text: string): number => Array.from(text).length
