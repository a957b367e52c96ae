/** The last filter before a terminal: of all control characters, only colours, tabs and newlines pass. */
import { printable } from '../printable.ts'

/** The colours and weights that the CLI uses. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one.
const OURS = /(\u001b\[\d{1,2}m|[\n\t])/

export const screenText = (text: string): string =>
  text
    .split(OURS)
    .map((part, i) => (i % 2 === 1 ? part : printable(part)))
    .join('')
