/** Asks for confirmation before a change that cannot be undone; the caller describes the change. */
import { createInterface } from 'node:readline/promises'
import type { Io } from './io.ts'
import { printable } from './print.ts'
import { UsageError } from './usage-error.ts'

/** Returns when the answer is yes. Without a terminal it throws, unless `yes` is set. */
export async function askYes(io: Io, question: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes) return
  if (!io.around.asks)
    throw new UsageError(`${question}: this command needs confirmation, but there is no terminal to ask on`, {
      hint: 'pass --yes to confirm, or --dry-run to see what it would do',
    })
  if (/^y(?:es)?$/i.test((await answerTo(`  ${printable(question)} · Continue? [y/N] `)).trim())) return
  throw new UsageError('declined: nothing was changed', { code: 'DECLINED' })
}

/** Empty if the user closes the input with Ctrl-C or Ctrl-D. */
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
