/** Validates parts of a request against their schemas; errors have a location and a did-you-mean hint. */
import { z } from 'zod'
import { nearestField } from '../did-you-mean.ts'
import { Refusal, type Spot } from './problem.ts'

/** Returns the parsed value; `prefix` distinguishes query and path parameters from body fields. */
export function validated<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  prefix: '' | '?' | '{}' = '',
): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw refusalOf(result.error.issues, schema, prefix)
}

function refusalOf(issues: readonly z.core.$ZodIssue[], schema: z.ZodType, prefix: '' | '?' | '{}' = ''): Refusal {
  const errors = issues.slice(0, 20).flatMap((issue) => spotsOf(issue, schema, prefix))
  const [first] = errors
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys')
  const known = unknown ? keysOf(schema, unknown.path.map(String)) : []
  // One list for all errors; each error has its own did-you-mean hint.
  const hint = known.length > 0 ? `known fields: ${known.join(', ')}` : undefined
  const where = first?.pointer === '' || first === undefined ? '' : `${first.pointer}: `
  return new Refusal('REQUEST_INVALID', `${where}${first?.message ?? 'does not match its schema'}`, {
    errors,
    ...(hint === undefined ? {} : { hint }),
  })
}

/**
 * Refuses the first invalid item of a list of objects: a hundred schedules may have tens of thousands of errors, and collecting them all
 * would block the event loop for too long.
 */
export function refuseWrongItems(schema: z.ZodType, value: unknown): void {
  for (const [name, field] of Object.entries(inner(schema)?.shape ?? {})) {
    if (!(field instanceof z.ZodArray && field.element instanceof z.ZodObject)) continue
    const items = (value as Readonly<Record<string, unknown>> | null)?.[name]
    if (!Array.isArray(items)) continue
    for (const [i, item] of items.entries()) {
      const { error } = field.element.safeParse(item)
      if (!error) continue
      const issues = error.issues.map((issue) => ({ ...issue, path: [name, i, ...issue.path] }))
      throw refusalOf(issues, schema)
    }
  }
}

/** The most entries of an object without a fixed set of fields. */
const MAX_ENTRIES = 1000

/**
 * Refuses a list that is longer than its schema allows before validating its entries: the schema would validate each of fifty thousand,
 * and collect their errors.
 */
export function refuseLong(schema: z.ZodType, value: unknown, path: readonly string[] = []): void {
  if (typeof value !== 'object' || value === null) return
  if (schema instanceof z.ZodUnion) {
    for (const option of schema.options) refuseLong(option as z.ZodType, value, path)
    return
  }
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return
    // A union of several lists would need the shortest limit; no schema has one.
    const { maximum = MAX_ENTRIES } = schema._zod.bag as { readonly maximum?: number }
    if (value.length > maximum) throw tooLong(path, value.length, maximum)
    for (const [i, each] of value.entries()) refuseLong(schema.element as z.ZodType, each, [...path, String(i)])
    return
  }
  if (schema instanceof z.ZodRecord) {
    const { length } = Object.keys(value)
    if (length > MAX_ENTRIES) throw tooLong(path, length, MAX_ENTRIES)
    return
  }
  const { shape } = inner(schema) ?? {}
  const wrapped = (schema as { readonly def?: { readonly innerType?: z.ZodType } }).def?.innerType
  if (shape) {
    if (Array.isArray(value)) return
    const { length } = Object.keys(value)
    if (length > MAX_ENTRIES) throw tooLong(path, length, MAX_ENTRIES)
    for (const [name, each] of Object.entries(value))
      if (Object.hasOwn(shape, name)) refuseLong(shape[name] as z.ZodType, each, [...path, name])
  } else if (wrapped) refuseLong(wrapped, value, path)
}

function tooLong(path: readonly string[], length: number, maximum: number): Refusal {
  const pointer = pointerOf(path, '')
  const message = `has ${length} entries; at most ${maximum} are allowed`
  return new Refusal('REQUEST_INVALID', `${pointer}: ${message}`, { errors: [{ pointer, message }] })
}

function spotsOf(issue: z.core.$ZodIssue, schema: z.ZodType, prefix: string): Spot[] {
  const at = issue.path.map(String)
  const pointer = (path: readonly string[]): string => pointerOf(path, prefix)
  if (issue.code !== 'unrecognized_keys') return [{ pointer: pointer(at), message: wordsOf(issue) }]
  const known = keysOf(schema, at)
  return issue.keys.slice(0, 20).map((key) => {
    const hint = hintFor(key, known)
    return {
      pointer: pointer([...at, key.slice(0, 60)]),
      message: 'is unknown',
      ...(hint === undefined ? {} : { hint }),
    }
  })
}

const pointerOf = (path: readonly string[], prefix: string): string =>
  prefix === ''
    ? path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    : `${prefix}${path.join('.')}`

function hintFor(key: string, known: readonly string[]): string | undefined {
  if ((key === 'enabled' || key === 'paused') && known.includes('cron'))
    return 'to pause or resume: POST /schedules/{id}/pause or /resume'
  const near = nearestField(key, known)
  return near && `did you mean ${near}?`
}

const wordsOf = ({ message }: z.core.$ZodIssue): string =>
  /received undefined$/.test(message) ? 'is missing' : message

/** The known field names of the object at a path; empty if the path is unknown. */
function keysOf(schema: z.ZodType, path: readonly string[]): string[] {
  let at: unknown = schema
  for (const part of path) at = inner(at)?.shape?.[part] ?? inner(at)?.element
  return Object.keys(inner(at)?.shape ?? {})
}

/** Unwraps optional, default and transform schemas. */
function inner(schema: unknown): { readonly shape?: Record<string, unknown>; readonly element?: unknown } | undefined {
  let at = schema as { shape?: Record<string, unknown>; def?: { innerType?: unknown; in?: unknown } } | undefined
  while (at && at.shape === undefined && (at.def?.innerType ?? at.def?.in))
    at = (at.def.innerType ?? at.def.in) as never
  return at
}
