/** The last gate before a terminal: whatever a command writes, only colours, tabs and ends of lines of it are control characters; what data looks like is decided where it is written. */
import { printable } from '../printable.ts'

/** The colours and weights that we use ourselves. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one.
const OURS = /(\u001b\[\d{1,2}m|[\n\t])/

export const screenText = (text: string): string =>
  text
    .split(OURS)
    .map((part, i) => (i % 2 === 1 ? part : printable(part)))
    .join('')
