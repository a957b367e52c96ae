/** Executes one attempt of a command: begins the process, passes on what it prints, waits for its end, and says what that means. */
import { existsSync } from 'node:fs'
import type { JobContext } from '../../engine/context.ts'
import { EverytickError } from '../../errors.ts'
import { type Call, runChild } from './child.ts'
import { type CommandResult, endingOf, notHere, notStarted } from './ending.ts'
import { createOutput } from './output.ts'

export interface How {
  /** Of output, for the log. */
  readonly maxBytes: number
  readonly killAfterMs: number
  readonly discardOn: readonly number[]
}

/** When another worker may already hold the run, or soon will. */
const HASTE_MS = 1000
const UNHURRIED = ['RUN_CANCELLED', 'RUN_TIMEOUT']

export interface Given {
  readonly ctx: JobContext
  /** What an error may name; null for shell text. */
  readonly shownFile: string | null
}

/** Of attempts whose time was over, as long as their processes are not. */
const going = new Map<string, Promise<unknown>>()

export async function execute(call: Call, how: How, { ctx, shownFile }: Given): Promise<CommandResult> {
  if (process.platform === 'win32') throw notHere()
  const { signal, log, run } = ctx
  // The attempt before may have timed out: two of one run never work side by side here.
  await going.get(run.id)
  signal.throwIfAborted()
  const output = createOutput({
    maxBytes: how.maxBytes,
    say: (stream, line) => (stream === 'stdout' ? log.info(line) : log.warn(line)),
  })
  const graceMs = (): number => (isUnhurried(signal.reason) ? how.killAfterMs : Math.min(how.killAfterMs, HASTE_MS))
  const child = runChild(call, { signal, graceMs, onOutput: output.push })
  const gone = child.then(
    () => {},
    () => {},
  )
  going.set(run.id, gone)
  try {
    const exit = await child
    output.end()
    // Whoever was told to stop has stopped, however it ended.
    signal.throwIfAborted()
    const ended = { ...exit, outputTail: output.tail('stdout'), errorTail: output.tail('stderr') }
    const ending = endingOf(ended, how.discardOn)
    if (ending instanceof Error) throw ending
    return ending
  } catch (error) {
    throw isSystemError(error)
      ? notStarted({ code: error.code, file: shownFile, missingFolder: missing(call.cwd) })
      : error
  } finally {
    if (going.get(run.id) === gone) going.delete(run.id)
  }
}

const isUnhurried = (reason: unknown): boolean => reason instanceof EverytickError && UNHURRIED.includes(reason.code)

const isSystemError = (error: unknown): error is { code: string } =>
  error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'

const missing = (folder: string | null): string | null => (folder === null || existsSync(folder) ? null : folder)
