/** Turns an error into the text for the user and the exit code for scripts; the code that throws writes the message. */
import { EverytickError, type Span } from '../errors.ts'
import type { CalledCommand } from './called-command.ts'
import { EXIT, exitOf } from './exit.ts'
import { lastEntry } from './last-word.ts'
import { coloursFor, jsonText, printable, width } from './print.ts'
import { UsageError } from './usage-error.ts'
import { withoutPasswords } from './without-passwords.ts'

export interface Problem {
  /** A code of the catalogues; USAGE for an invalid command line, INTERNAL for a bug in Everytick. */
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly source?: string | undefined
  readonly span?: Span | undefined
  /** The command that prints the relevant help, for mistakes on the command line. */
  readonly help?: string | undefined
  readonly exit: number
}

/** Removes passwords, whatever threw the error. */
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
  return { code: 'INTERNAL', message, hint: 'this is a bug in Everytick: please report it', exit: EXIT.failed }
}

const USAGE_CODES: Readonly<Record<string, Problem['code']>> = {
  'commander.unknownOption': 'OPTION_UNKNOWN',
  'commander.optionMissingArgument': 'OPTION_INVALID',
  'commander.invalidArgument': 'OPTION_INVALID',
}

/** Commander throws it when a command group is called without a subcommand. */
const GROUP_ALONE = 'commander.help'

/** Commander writes `error: what` and, when it has an idea, `(Did you mean x?)` on a second line. */
function usageProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  if (!error.code.startsWith('commander.')) return undefined
  const [what = '', idea] = error.message.replace(/^error: /, '').split(/\n(?=\()/)
  const hint = idea ? idea.slice(1, -1).replace('Did', 'did') : undefined
  const message = error.code === GROUP_ALONE ? 'a subcommand is missing' : what
  return { code: USAGE_CODES[error.code] ?? 'USAGE', message, hint, exit: EXIT.usage }
}

/** Typing mistakes, for which the help of the command is useful. */
const TYPED_WRONG: ReadonlySet<string> = new Set(['USAGE', 'OPTION_UNKNOWN', 'OPTION_INVALID'])

/** Adds a pointer to the help of the command to a typing mistake. */
export function withHelp(problem: Problem, { name, subcommands }: CalledCommand): Problem {
  if (!TYPED_WRONG.has(problem.code)) return problem
  const commands = subcommands.length > 0 ? `its commands: ${subcommands.join(', ')}` : undefined
  return { ...problem, hint: problem.hint ?? commands, help: `${name} --help` }
}

export function problemJson({ code, message, hint, span, help }: Problem): string {
  return `${jsonText({ code, message, hint: hint ?? null, span: span ?? null, ...(help && { help }) })}\n`
}

/** For a process whose log is JSON. */
export const problemEntry = ({ code, message, hint, help }: Problem): string =>
  lastEntry({ level: 'error', message, data: { code, ...(hint && { hint }), ...(help && { help }) } })

/** The message, the rejected text with carets under the position, and the hint. */
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
