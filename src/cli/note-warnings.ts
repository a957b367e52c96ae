/** Prints the warnings of a response to standard error. */
import type { Io } from './io.ts'
import { printable } from './print.ts'

export interface Warned {
  readonly warnings?: readonly { readonly text: string }[]
}

export function noteWarnings(io: Io, warnings: Warned['warnings'] = []): void {
  for (const { text } of warnings) io.note(`  ⚠ ${printable(text)}\n`)
}
