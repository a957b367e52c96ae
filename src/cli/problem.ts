/** Turns whatever went wrong into what the user reads and the exit code a script sees; the words come from where it was thrown. */
import { EverytickError, type Span } from '../errors.ts'
import type { CalledCommand } from './called-command.ts'
import { EXIT, exitOf } from './exit.ts'
import { lastEntry } from './last-word.ts'
import { coloursFor, jsonText, printable, width } from './print.ts'
import { UsageError } from './usage-error.ts'
import { withoutPasswords } from './without-passwords.ts'

export interface Problem {
  /** A code of the catalogues; USAGE when the command line itself cannot be read, INTERNAL when the fault is ours. */
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly source?: string | undefined
  readonly span?: Span | undefined
  /** What prints the help of the command that was called, for mistakes on the command line. */
  readonly help?: string | undefined
  readonly exit: number
}

/** Without passwords, wherever the error comes from. */
export function problemOf(error: unknown): Problem {
  const { message, hint, source, ...problem } = rawProblemOf(error)
  const isSame = source === undefined || withoutPasswords(source) === source
  return {
    ...problem,
    message: withoutPasswords(message),
    hint: hint === undefined ? undefined : withoutPasswords(hint),
    ...(isSame ? { source } : { span: undefined }),
  }
}

function rawProblemOf(error: unknown): Problem {
  if (error instanceof EverytickError) {
    const { code, message, hint, source, span } = error
    return { code, message, hint, source, span, exit: EXIT[exitOf(code)] }
  }
  if (error instanceof UsageError)
    return { code: error.code, message: error.message, hint: error.hint, exit: error.exit }
  const usage = usageProblem(error)
  if (usage) return usage
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'INTERNAL', message, hint: 'this is a fault of Everytick: please report it', exit: EXIT.failed }
}

const USAGE_CODES: Readonly<Record<string, Problem['code']>> = {
  'commander.unknownOption': 'OPTION_UNKNOWN',
  'commander.optionMissingArgument': 'OPTION_INVALID',
  'commander.invalidArgument': 'OPTION_INVALID',
}

/** Thrown where a group of commands is called without one of them. */
const GROUP_ALONE = 'commander.help'

/** Commander writes `error: what` and, when it has an idea, `(Did you mean x?)` on a second line. */
function usageProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  if (!error.code.startsWith('commander.')) return undefined
  const [what = '', idea] = error.message.replace(/^error: /, '').split(/\n(?=\()/)
  const hint = idea ? idea.slice(1, -1).replace('Did', 'did') : undefined
  const message = error.code === GROUP_ALONE ? 'a command is missing' : what
  return { code: USAGE_CODES[error.code] ?? 'USAGE', message, hint, exit: EXIT.usage }
}

/** Mistakes in what was typed, which the help of the command clears up. */
const TYPED_WRONG: ReadonlySet<string> = new Set(['USAGE', 'OPTION_UNKNOWN', 'OPTION_INVALID'])

/** The same problem with a pointer to the help of the command, where that helps. */
export function withHelp(problem: Problem, { name, subcommands }: CalledCommand): Problem {
  if (!TYPED_WRONG.has(problem.code)) return problem
  const commands = subcommands.length > 0 ? `its commands: ${subcommands.join(', ')}` : undefined
  return { ...problem, hint: problem.hint ?? commands, help: `${name} --help` }
}

export function problemJson({ code, message, hint, span, help }: Problem): string {
  return `${jsonText({ code, message, hint: hint ?? null, span: span ?? null, ...(help && { help }) })}\n`
}

/** Where the log of the process is JSON. */
export const problemEntry = ({ code, message, hint, help }: Problem): string =>
  lastEntry({ level: 'error', message, data: { code, ...(hint && { hint }), ...(help && { help }) } })

/** The message, the refused text with carets under the spot, and what to do next. */
export function problemText(problem: Problem, wantColours: boolean): string {
  const { red, bold, dim } = coloursFor(wantColours)
  const { code, source, span } = problem
  const hint = printable(problem.hint ?? '')
  const message = problem.message.split('\n').map(printable).join('\n')
  const lines = [`${red(bold(`${printable(code)}:`))} ${message}`]
  if (source !== undefined && span !== undefined) {
    const before = ' '.repeat(width(printable(source.slice(0, span[0]))))
    const carets = '^'.repeat(Math.max(1, width(printable(source.slice(span[0], span[1])))))
    lines.push(`  ${printable(source)}`, `  ${before}${red(carets)}${hint && `   ${hint}`}`)
  } else if (hint) lines.push(`  ${dim(hint.charAt(0).toUpperCase() + hint.slice(1))}`)
  if (problem.help !== undefined) lines.push(`  ${dim(`Help: ${problem.help}`)}`)
  return `${lines.join('\n')}\n`
}
