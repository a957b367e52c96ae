/** How data becomes text: tables for a terminal, tab-separated rows for a pipe, JSON for programs; what to print is each command's choice. */
import picocolors from 'picocolors'
import type { Surroundings } from './config.ts'

type Colours = ReturnType<typeof picocolors.createColors>

/** What a command must know of the reader of its output. */
export interface View {
  readonly terminal: boolean
  readonly colours: Colours
}

export const viewOf = ({ terminal, outColours }: Surroundings): View => ({ terminal, colours: coloursFor(outColours) })

export const coloursFor = (wanted: boolean): Colours => picocolors.createColors(wanted)

// Control, formatting and direction marks, lone surrogates and unassigned codes: what could command a terminal or hide text.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** The same text with everything a terminal might obey written as its code; data goes through here before it is shown. */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** One line of JSON that is also safe to show: JSON itself lets C1 controls and direction marks through raw. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(UNPRINTABLE, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )

/** Rows under a heading, for people on a terminal; bare tab-separated rows for everything else. */
export function rowsText(heading: readonly string[], rows: readonly (readonly string[])[], view: View): string {
  const safe = rows.map((row) => row.map(printable))
  if (!view.terminal) return safe.map((row) => `${row.join('\t')}\n`).join('')
  const widths = heading.map((title, i) => Math.max(...[heading, ...safe].map((row) => width(row[i] ?? title))))
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - width(cell)))).join('  ')}`
  return `${[view.colours.dim(line(heading)), ...safe.map(line)].join('\n')}\n`
}

/** Characters as a person counts them, near enough for names of zones and for numbers. */
export const width = (text: string): number => Array.from(text).length
