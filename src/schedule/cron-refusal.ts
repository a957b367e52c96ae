/** Words the refusal of a cron expression: the exact span and a repaired expression; whether it is refused is the readers' decision. */
import { type ErrorCode, EverytickError, type Span } from '../errors.ts'
import type { FieldSpec } from './cron-field.ts'

interface Refusal {
  readonly span: Span
  readonly message: string
  readonly hint: string
}

export function refuse(code: ErrorCode, source: string, { span, message, hint }: Refusal): EverytickError {
  return new EverytickError(code, message, { hint, source, span })
}

/** The whole expression with one span replaced, as a question. */
export const withRepair = (source: string, span: Span, repair: string): string =>
  `did you mean ${source.slice(0, span[0])}${repair}${source.slice(span[1])}?`

/** What stands at a span, in quotes and shortened. */
export function quoted(source: string, [start, end]: Span): string {
  const text = source.slice(start, end)
  return JSON.stringify(text.length > 12 ? `${text.slice(0, 12)}…` : text)
}

const SPECIAL: Readonly<Record<string, string>> = {
  day: ', L, L-3, LW, L-3W or 15W',
  weekday: ', names, 5L, 5#2 or 5#L, with + in front to demand the day of month too',
  month: ' or names',
}

/** The character at `at`, or the end of the field, is not what the field allows there. */
export function unexpected(source: string, spec: FieldSpec, at: number, end: number): EverytickError {
  const hint = `${spec.label} takes *, ${spec.min}-${spec.max}, lists, ranges, steps${SPECIAL[spec.name] ?? ''}`
  if (at >= end) {
    return refuse('CRON_SYNTAX', source, { span: [end - 1, end], message: `${spec.label} ends too early`, hint })
  }
  const found = String.fromCodePoint(source.codePointAt(at)!)
  const message = `${spec.label} cannot contain ${JSON.stringify(found)} here`
  return refuse('CRON_SYNTAX', source, { span: [at, at + found.length], message, hint })
}
