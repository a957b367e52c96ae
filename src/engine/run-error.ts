/** Turns whatever a handler threw into a bounded record, without trusting any of it. */
import { EverytickError } from '../errors.ts'
import { type Json, toJsonText } from '../json.ts'
import { AttemptDiscarded, AttemptFailed } from '../run/control.ts'
import type { RunError } from '../run/run.ts'

const MAX_MESSAGE = 2000
const MAX_STACK = 8000
const MAX_DETAIL_BYTES = 16 * 1024

export function runError(thrown: unknown): RunError {
  try {
    if (thrown instanceof Error) {
      const code = thrown instanceof EverytickError ? thrown.code : textOf((thrown as { code?: unknown }).code)
      return {
        name: cut(thrown.name, 200),
        message: cut(thrown.message, MAX_MESSAGE),
        ...(typeof thrown.stack === 'string' ? { stack: cut(thrown.stack, MAX_STACK) } : {}),
        ...(code === undefined ? {} : { code: cut(code, 200) }),
        ...detailOf(thrown),
      }
    }
    return {
      name: 'NonError',
      message: cut(
        typeof thrown === 'string' ? thrown : `a ${typeof thrown} was thrown: ${String(thrown)}`,
        MAX_MESSAGE,
      ),
    }
  } catch {
    return { name: 'NonError', message: 'the handler threw a value that cannot be converted to text' }
  }
}

/** Only targets have a word for it; whatever else is called `detail` is the business of whoever threw it. */
function detailOf(thrown: Error): { detail?: Json } {
  if (!(thrown instanceof AttemptFailed || thrown instanceof AttemptDiscarded) || thrown.detail === null) return {}
  try {
    return { detail: JSON.parse(toJsonText(thrown.detail, { what: 'detail', maxBytes: MAX_DETAIL_BYTES })) }
  } catch (error) {
    return { detail: { notStored: error instanceof EverytickError ? error.message : 'it cannot be read' } }
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined

const cut = (text: unknown, length: number): string => {
  const whole = String(text)
  return whole.length > length ? `${whole.slice(0, length)}…` : whole
}
