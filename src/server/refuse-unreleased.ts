/** Stops an answer that holds a payload, result, error or difference which `shown.ts` did not release; what is released to whom is decided there. */
import type { Operation } from './operation.ts'
import { ruleOf } from './operation-rules.ts'
import type { Reply } from './route.ts'

/** Fields under which such content stands, wherever they are in an answer. */
const CONTENT: ReadonlySet<string> = new Set(['payload', 'result', 'error', 'errors', 'stack', 'verdict', 'data'])
/** Fields of differences; a number or a text of this name is none. */
const DIFFERENCE: ReadonlySet<string> = new Set(['before', 'after', 'changes'])

const released = new WeakSet<object>()

/** For `shown.ts` alone, which has decided what of the value may be seen. A copy of the value is not released. */
export function release<Value extends object>(value: Value): Value {
  released.add(value)
  return value
}

/** An answer that was not released is a fault of ours, and is not sent. */
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

/** Where it stands; the empty text for the value itself. The path is written only when there is one: an answer may have ten thousand items. */
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
  // The items of a list stand under data too.
  if (value === null || value === undefined || (isBody && name === 'data' && Array.isArray(value))) return false
  return CONTENT.has(name) || (DIFFERENCE.has(name) && typeof value === 'object' && !(value instanceof Date))
}

const isReleased = (value: unknown): boolean => typeof value === 'object' && value !== null && released.has(value)
