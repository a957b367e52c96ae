/** Reads the words a program is called with: text that no shell ever looks at; which program it is, is decided elsewhere. */
import { readList, readText, refused } from '../../options.ts'

/** How many words, and how long each may be. */
export interface ArgumentBounds {
  readonly count: number
  readonly length: number
}

export const OF_CODE: ArgumentBounds = { count: 1000, length: 128 * 1024 }
export const OF_PAYLOAD: ArgumentBounds = { count: 64, length: 4096 }

export function readArguments(value: unknown, what: string, { count, length }: ArgumentBounds): readonly string[] {
  const words = readList(value, what, [0, count]).map((word, i) => readWord(word, `${what}[${i}]`, length))
  return Object.freeze(words)
}

/** What is refused is not shown: it may hold a secret. */
function readWord(value: unknown, what: string, length: number): string {
  if (typeof value !== 'string') throw refused(`${what} is text, not ${typeof value}`)
  if (value.includes('\0')) throw refused(`${what} holds a NUL`)
  return readText(value, what, length)
}

/** A file, folder or shell. */
export function readPath(value: unknown, what: string): string {
  const path = readText(value, what, 4096)
  if (path.trim() === '' || path.includes('\0')) throw refused(`${what} is empty or holds a NUL`)
  return path
}
