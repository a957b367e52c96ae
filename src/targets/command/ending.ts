/** Decides, purely, what the end of a process means for the attempt. */
import { AttemptDiscarded, AttemptFailed } from '../../run/control.ts'

export interface Ended {
  /** Null when a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly durationMs: number
  readonly outputTail: string
  readonly errorTail: string
}

export interface CommandResult {
  readonly exitCode: number
  readonly signal: null
  readonly durationMs: number
  /** The last of its standard output. */
  readonly outputTail: string
}

const NAME = 'CommandError'
const MAX_LAST_LINE = 500

/** Returns the result, or the error to throw. Exit codes in `discardOn` fail the run without a retry. */
export function endingOf(ended: Ended, discardOn: readonly number[]): CommandResult | Error {
  const { exitCode, signal, durationMs, outputTail, errorTail } = ended
  if (exitCode === 0) return { exitCode, signal: null, durationMs, outputTail }
  const detail = { exitCode, signal, durationMs, outputTail, errorTail }
  const last = lastLine(errorTail)
  if (exitCode === null) {
    const why = signal === 'SIGKILL' ? ', which the system does when memory runs out' : ''
    return new AttemptFailed(NAME, `ended by ${signal ?? 'a signal'}${why}${last}`, { code: 'COMMAND_SIGNAL', detail })
  }
  const message = `ended with exit code ${exitCode}${last}`
  const failure = { code: 'COMMAND_EXIT', detail }
  return discardOn.includes(exitCode)
    ? new AttemptDiscarded(NAME, message, failure)
    : new AttemptFailed(NAME, message, failure)
}

const lastLine = (text: string): string => {
  const said = text.trimEnd()
  const line = said.slice(said.lastIndexOf('\n') + 1).trim()
  return line === '' ? '' : `: ${line.length > MAX_LAST_LINE ? `${line.slice(0, MAX_LAST_LINE)}…` : line}`
}

/** Errors of an overloaded machine, which a retry may fix; a retry cannot fix the others. */
const PASSING = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY'])
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be executed',
  EPERM: 'it may not be executed',
  ENOTDIR: 'there is no such file',
  ENOEXEC: 'it is not a program; a script must begin with #!',
  E2BIG: 'its arguments and environment are too long together',
  EAGAIN: 'there are too many processes',
  ENOMEM: 'there is not enough memory',
}

export interface NotStarted {
  readonly code: string
  /** The program, or null where it is shell text, which may hold secrets. */
  readonly file: string | null
  /** Where it was to run, when that is missing. */
  readonly missingFolder: string | null
}

export function notStarted({ code, file, missingFolder }: NotStarted): Error {
  const what = file ?? 'the shell'
  const reason = missingFolder === null ? REASONS[code] : `there is no folder ${missingFolder}`
  const message = `${what} could not be started: ${reason ?? code}`
  const failure = { code: 'COMMAND_NOT_STARTED', detail: { reason: code } }
  return PASSING.has(code) ? new AttemptFailed(NAME, message, failure) : new AttemptDiscarded(NAME, message, failure)
}

/** Nothing was begun. */
export const notHere = (): Error =>
  new AttemptDiscarded(NAME, 'commands are executed on Linux and macOS only', { code: 'COMMAND_NOT_STARTED' })
