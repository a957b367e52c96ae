/** Reads a cron expression or macro into its syntax tree, or refuses it; one field is `cron-field-reader.ts`, the meaning is `cron.ts`. */
import { didYouMean } from '../did-you-mean.ts'
import { EverytickError, type Span, shown } from '../errors.ts'
import { FIELD_SPECS, type Field } from './cron-field.ts'
import { isHashed, readField } from './cron-field-reader.ts'
import { refuse, withRepair } from './cron-refusal.ts'

const MAX_LENGTH = 256
const EXAMPLE = 'write it like "30 2 * * *"'

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
  '@every_minute': '* * * * *',
  '@every_second': '* * * * * *',
}

export type CronTree =
  | { readonly kind: 'fields'; readonly fields: readonly Field[]; readonly hashed: boolean }
  | { readonly kind: 'every'; readonly duration: string }
  | { readonly kind: 'reboot' }

/** Second to weekday, and the year where there are seven fields. */
export function readCron(expression: string, seed: string): CronTree {
  const source = bounded(expression)
  const words = wordSpans(source)
  if (words.length === 0)
    throw new EverytickError('CRON_EMPTY', 'the cron expression is empty', { hint: EXAMPLE, source })
  if (source.startsWith('@', words[0]![0])) return readMacro(source, words, seed)
  if (words.length < 5 || words.length > 7) throw wrongFieldCount(source, words)
  if (words.length === 6) refuseYear(source, words[5]!)
  const absent = words.length === 5 ? 1 : 0
  const fields = absent === 1 ? [SECOND_ZERO] : []
  for (let i = 0; i < words.length; i++)
    fields.push(readField(FIELD_SPECS[i + absent]!, { source, span: words[i]!, seed }))
  return { kind: 'fields', fields, hashed: fields.some(isHashed) }
}

const SECOND_ZERO = readField(FIELD_SPECS[0]!, { source: '0', span: [0, 1], seed: '' })

/** The length comes first, so that nothing after it meets a long text. */
function bounded(expression: unknown): string {
  if (typeof expression !== 'string') {
    throw new EverytickError('CRON_SYNTAX', `a cron expression must be a string, not ${shown(expression)}`, {
      hint: EXAMPLE,
    })
  }
  if (expression.length <= MAX_LENGTH) return expression
  const message = `a cron expression has at most ${MAX_LENGTH} characters, not ${expression.length}`
  throw new EverytickError('CRON_LENGTH', message, { hint: 'split it into several timings' })
}

function wordSpans(text: string): Span[] {
  const spans: Span[] = []
  let start = -1
  for (let i = 0; i <= text.length; i++) {
    const c = i < text.length ? text.charCodeAt(i) : 32
    const blank = c === 32 || (c >= 9 && c <= 13)
    if (blank && start >= 0) {
      spans.push([start, i])
      start = -1
    } else if (!blank && start < 0) start = i
  }
  return spans
}

function readMacro(source: string, words: readonly Span[], seed: string): CronTree {
  const span = words[0]!
  const rest: Span = [words[1]?.[0] ?? 0, words.at(-1)![1]]
  const name = source.slice(span[0], span[1])
  if (name === '@every' && words.length > 1) return { kind: 'every', duration: source.slice(rest[0], rest[1]) }
  if (name === '@every') {
    throw refuse('CRON_MACRO', source, { span, message: '@every needs a duration', hint: 'write it like "@every 5m"' })
  }
  if (name !== '@reboot' && !Object.hasOwn(MACROS, name)) throw unknownMacro(source, span)
  if (words.length > 1) {
    const hint = withRepair(source, [span[1], source.length], '')
    throw refuse('CRON_FIELDS', source, { span: rest, message: `${name} must be the whole expression`, hint })
  }
  return name === '@reboot' ? { kind: 'reboot' } : readCron(MACROS[name]!, seed)
}

const MACRO_NAMES = [...Object.keys(MACROS), '@reboot', '@every']

function unknownMacro(source: string, span: Span): EverytickError {
  const name = source.slice(span[0], span[1])
  const lower = name.toLowerCase()
  const near = MACRO_NAMES.includes(lower) ? lower : didYouMean(lower, MACRO_NAMES)
  const message = MACRO_NAMES.includes(lower)
    ? `macros are written in lower case, not ${JSON.stringify(name)}`
    : `${JSON.stringify(name)} is not a macro`
  const hint = near ? withRepair(source, span, near) : `known are ${Object.keys(MACROS).join(' ')} and @every 5m`
  return refuse('CRON_MACRO', source, { span, message, hint })
}

/** A year behind five fields is a mistake that would read as an impossible weekday. */
function refuseYear(source: string, span: Span): void {
  if (!/^\d{4}/.test(source.slice(span[0], span[1]))) return
  const message = 'a year is the seventh field: add the seconds field in front'
  throw refuse('CRON_FIELDS', source, { span, message, hint: `did you mean 0 ${source.trim()}?` })
}

function wrongFieldCount(source: string, words: readonly Span[]): EverytickError {
  const count = words.length
  const span: Span = [words[count > 7 ? 7 : 0]![0], words.at(-1)![1]]
  const hint =
    'write minute hour day-of-month month day-of-week, if wanted with a leading second, and then also with a trailing year'
  const message = `a cron expression has 5, 6 or 7 fields, not ${count}`
  return refuse('CRON_FIELDS', source, { span, message, hint })
}
