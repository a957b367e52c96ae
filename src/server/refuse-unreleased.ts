/** Blocks a response with a payload, result, error or difference that `shown.ts` did not release. */
import type { Operation } from './operation.ts'
import { ruleOf } from './operation-rules.ts'
import type { Reply } from './route.ts'

/** Field names that hold such content, at any depth of a response. */
const CONTENT: ReadonlySet<string> = new Set(['payload', 'result', 'error', 'errors', 'stack', 'verdict', 'data'])
/** Field names of differences; numbers and texts of these names are allowed. */
const DIFFERENCE: ReadonlySet<string> = new Set(['before', 'after', 'changes'])

const released = new WeakSet<object>()

/** Only `shown.ts` may call it, after filtering the value. A copy of a released value is not released. */
export function release<Value extends object>(value: Value): Value {
  released.add(value)
  return value
}

/** Throws for an unreleased response: that is a bug, and the response is not sent. */
export function refuseUnreleased(operation: Pick<Operation, 'id'>, { body, raw, repeated, change }: Reply): void {
  const { shows } = ruleOf(operation)
  const found =
    spotIn(body, shows) ??
    spotIn(repeated, shows) ??
    (change === undefined || change === 'none' ? null : (spotIn(change.before, shows) ?? spotIn(change.after, shows)))
  if (found !== null) throw new Error(`${operation.id} answers ${found || 'a value'}, which did not come from shown.ts`)
  if (raw && shows === 'payload' && raw.body !== null && !released.has(raw))
    throw new Error(`${operation.id} answers a stream that did not come from shown.ts`)
  if (shows === 'nothing' && raw && released.has(raw)) throw new Error(`${operation.id} shows payloads: see its rule`)
}

/** The path of unreleased content; the empty text for the value itself. Builds the path only on a hit, because a response may have ten thousand items. */
function spotIn(value: unknown, shows: 'nothing' | 'payload', isBody = true): string | null {
  if (typeof value !== 'object' || value === null || value instanceof Date) return null
  if (released.has(value)) return shows === 'payload' ? null : ''
  for (const name of Object.keys(value)) {
    const each = (value as Readonly<Record<string, unknown>>)[name]
    if (isGuarded(name, each, isBody) && !isReleased(each)) return name
    const inner = spotIn(each, shows, false)
    if (inner !== null) return inner === '' ? name : `${name}.${inner}`
  }
  return null
}

function isGuarded(name: string, value: unknown, isBody: boolean): boolean {
  // Lists have their items in a field named data too.
  if (value === null || value === undefined || (isBody && name === 'data' && Array.isArray(value))) return false
  return CONTENT.has(name) || (DIFFERENCE.has(name) && typeof value === 'object' && !(value instanceof Date))
}

const isReleased = (value: unknown): boolean => typeof value === 'object' && value !== null && released.has(value)
