/** Asks before something that cannot be taken back; what is about to happen is the caller's to say. */
import { createInterface } from 'node:readline/promises'
import type { Io } from './io.ts'
import { printable } from './print.ts'
import { UsageError } from './usage-error.ts'

/** Returns when the answer is yes. Where nobody can be asked it refuses, unless yes was said beforehand. */
export async function askYes(io: Io, question: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes) return
  if (!io.around.asks)
    throw new UsageError(`${question}: this asks before it begins, and nobody can be asked here`, {
      hint: 'pass --yes, or --dry-run to see what it would do',
    })
  if (/^y(?:es)?$/i.test((await answerTo(`  ${printable(question)} · Continue? [y/N] `)).trim())) return
  throw new UsageError('nothing was done', { code: 'DECLINED' })
}

/** Empty when the line was closed instead: Ctrl-C, Ctrl-D. */
async function answerTo(text: string): Promise<string> {
  const line = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<string>((resolve) => line.once('close', () => resolve('')))
  line.once('SIGINT', () => line.close())
  try {
    return await Promise.race([line.question(text), closed])
  } finally {
    line.close()
  }
}
