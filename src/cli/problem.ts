/** Turns whatever went wrong into what the user reads and the exit code a script sees; the words come from where it was thrown. */
import { type ErrorCode, EverytickError, type Span } from '../errors.ts'
import { EXIT } from './exit.ts'
import { coloursFor, jsonText, printable, width } from './print.ts'
import { UsageError } from './usage-error.ts'

export interface Problem {
  /** A code of the catalogues; USAGE when the command line itself cannot be read, INTERNAL when the fault is ours. */
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly source?: string | undefined
  readonly span?: Span | undefined
  readonly exit: number
}

/** What the user wrote was right, and could not be done all the same. */
const FAILURES: ReadonlySet<ErrorCode> = new Set([
  'STORE_UNREACHABLE',
  'SCHEMA_OUTDATED',
  'SCHEMA_TOO_NEW',
  'SQLITE_MISSING',
  'PACKAGE_MISSING',
])

export function problemOf(error: unknown): Problem {
  if (error instanceof EverytickError) {
    const { code, message, hint, source, span } = error
    return { code, message, hint, source, span, exit: FAILURES.has(code) ? EXIT.failed : EXIT.usage }
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

/** Commander writes `error: what` and, when it has an idea, `(Did you mean x?)` on a second line. */
function usageProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  if (!error.code.startsWith('commander.')) return undefined
  const [what = '', idea] = error.message.replace(/^error: /, '').split(/\n(?=\()/)
  const hint = idea ? idea.slice(1, -1).replace('Did', 'did') : 'run everytick --help'
  return { code: USAGE_CODES[error.code] ?? 'USAGE', message: what, hint, exit: EXIT.usage }
}

export function problemJson({ code, message, hint, span }: Problem): string {
  return `${jsonText({ code, message, hint: hint ?? null, span: span ?? null })}\n`
}

/** The message, the refused text with carets under the spot, and what to do next. */
export function problemText(problem: Problem, wantColours: boolean): string {
  const { red, bold, dim } = coloursFor(wantColours)
  const { code, source, span } = problem
  const hint = printable(problem.hint ?? '')
  const message = problem.message.split('\n').map(printable).join('\n')
  const lines = [`${red(bold(`${code}:`))} ${message}`]
  if (source !== undefined && span !== undefined) {
    const before = ' '.repeat(width(printable(source.slice(0, span[0]))))
    const carets = '^'.repeat(Math.max(1, width(printable(source.slice(span[0], span[1])))))
    lines.push(`  ${printable(source)}`, `  ${before}${red(carets)}${hint && `   ${hint}`}`)
  } else if (hint) lines.push(`  ${dim(hint.charAt(0).toUpperCase() + hint.slice(1))}`)
  return `${lines.join('\n')}\n`
}
