/** How data becomes text: tables for a terminal, tab-separated rows for a pipe, JSON for programs; what to print is each command's choice. */
import picocolors from 'picocolors'
import { printable } from '../printable.ts'
import type { Surroundings } from './config.ts'

export { jsonText, printable } from '../printable.ts'

type Colours = ReturnType<typeof picocolors.createColors>

/** What a command must know of the reader of its output. */
export interface View {
  readonly terminal: boolean
  readonly colours: Colours
}

export const viewOf = ({ terminal, outColours }: Surroundings): View => ({ terminal, colours: coloursFor(outColours) })

export const coloursFor = (wanted: boolean): Colours => picocolors.createColors(wanted)

/** Rows under a heading, for people on a terminal; bare tab-separated rows for everything else. */
export function rowsText(heading: readonly string[], rows: readonly (readonly string[])[], view: View): string {
  const safe = rows.map((row) => row.map(printable))
  if (!view.terminal) return safe.map((row) => `${row.join('\t')}\n`).join('')
  if (safe.length === 0) return `  ${view.colours.dim('none')}\n`
  const widths = heading.map((title, i) => Math.max(...[heading, ...safe].map((row) => width(row[i] ?? title))))
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - width(cell)))).join('  ')}`
  return `${[view.colours.dim(line(heading)), ...safe.map(line)].join('\n')}\n`
}

/** Characters as a person counts them, near enough for names of zones and for numbers. */
export const width = (text: string): number => Array.from(text).length
