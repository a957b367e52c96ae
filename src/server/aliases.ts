/** The table of field aliases that requests may use, and the translation of a request to the canonical names. */
import { z } from 'zod'
import { Refusal, type Spot } from './problem.ts'
import type { WarningBody } from './warnings.ts'

export interface Alias {
  readonly name: string
  /** The canonical field; a dot separates nested fields. */
  readonly is: string
  /** The schema of the alias, if it differs from that of the field. */
  readonly schema?: z.ZodType
  /** Converts a valid value of the alias to a value of the field. */
  readonly convert?: (value: never) => unknown
  /** A note for the warning, in addition to the canonical name. */
  readonly remark?: string
}

/** The field names of the scheduler blueprint. */
export const FIELD_ALIASES: readonly Alias[] = [
  { name: 'name', is: 'key' },
  { name: 'cronExpression', is: 'cron' },
  { name: 'jobType', is: 'job' },
  { name: 'jobPayload', is: 'payload' },
  {
    name: 'maxRetries',
    is: 'retry.attempts',
    schema: z.int().min(0).max(1000),
    // The blueprint passes it to its queue as the number of attempts, and a queue makes at least one attempt.
    convert: (count: number) => Math.max(1, count),
    remark: 'it counts all attempts, including the first',
  },
  {
    name: 'timeoutSeconds',
    is: 'timeout',
    schema: z.int().min(1).max(31_536_000),
    convert: (seconds: number) => `${seconds}s`,
    remark: 'a duration such as "3600s"',
  },
  { name: 'overlapPolicy', is: 'overlap' },
  {
    name: 'enabled',
    is: 'paused',
    schema: z.boolean(),
    convert: (enabled: boolean) => !enabled,
    remark: '"enabled": false is "paused": true',
  },
]
/** The execution states of the blueprint. Its `dispatched` is a run that waits for a worker. */
export const STATUS_ALIASES: Readonly<Record<string, string>> = { completed: 'succeeded', dispatched: 'pending' }

/** The aliases that apply to an object with these fields. */
export const aliasesOf = (fields: Readonly<Record<string, unknown>>): readonly Alias[] =>
  FIELD_ALIASES.filter(({ name, is }) => is.split('.')[0]! in fields && !(name in fields))

/** Object schemas that accept aliases. */
const ALIASED = new WeakSet<z.ZodType>()

export function withAliases<Schema extends z.ZodObject>(schema: Schema): Schema {
  ALIASED.add(schema)
  return schema
}

/** The aliases of a schema; empty if it accepts none. */
export const aliasesIn = (schema: unknown): readonly Alias[] =>
  schema instanceof z.ZodObject && ALIASED.has(schema) ? aliasesOf(schema.shape) : []

/** The schema of the values of an alias. */
export const acceptedBy = ({ is, schema }: Alias, fields: Readonly<Record<string, unknown>>): z.ZodType =>
  schema ?? (fields[is] as z.ZodType)

export interface Translated {
  readonly value: unknown
  readonly warnings: readonly WarningBody[]
  /** Maps pointers of canonical fields to the pointers that the caller wrote. */
  readonly spelled: ReadonlyMap<string, string>
}

/** Translates a request to canonical names. Refuses an alias together with its field, and invalid values of an alias. */
export function translated(schema: z.ZodType, value: unknown, prefix: '' | '?'): Translated {
  const warnings = new Map<string, WarningBody>()
  const spelled = new Map<string, string>()
  const errors: Spot[] = []
  const warn = (text: string): unknown => warnings.set(text, { code: 'ALIAS', at: null, text })

  function renamed(at: z.ZodType, given: unknown, path: string): unknown {
    if (at instanceof z.ZodOptional) return renamed(at.unwrap() as z.ZodType, given, path)
    if (at instanceof z.ZodArray && Array.isArray(given))
      return given.map((each, i) => renamed(at.element as z.ZodType, each, `${path}/${i}`))
    if (!(at instanceof z.ZodObject) || !isFields(given)) return given
    // No prototype, so that a name such as `__proto__` is an ordinary key.
    const fields: Fields = Object.create(null)
    for (const [name, each] of Object.entries(given)) {
      const of = Object.hasOwn(at.shape, name) ? (at.shape[name] as z.ZodType) : undefined
      fields[name] = of ? renamed(of, each, `${path}/${name}`) : each
    }
    for (const alias of aliasesIn(at)) if (Object.hasOwn(fields, alias.name)) apply(alias, { fields, at, path })
    return fields
  }

  function apply(alias: Alias, { fields, at, path }: Place): void {
    const { name, is, convert, remark } = alias
    const spot = (message: string, hint?: string): unknown =>
      errors.push({ pointer: pointerOf(path, name, prefix), message, ...(hint === undefined ? {} : { hint }) })
    const [outer = '', inner] = is.split('.')
    const holder = fields[outer]
    const isTaken = inner === undefined || !isFields(holder) ? holder !== undefined : holder[inner] !== undefined
    if (isTaken) {
      spot(`is an alias of ${is}, and both are given`, `send ${is} only`)
      return
    }
    const given = fields[name]
    const result = given === null ? null : acceptedBy(alias, at.shape).safeParse(given)
    if (result?.error) {
      spot(result.error.issues[0]?.message ?? 'does not match its schema')
      return
    }
    const read = result && convert ? convert(result.data as never) : given
    delete fields[name]
    fields[outer] = inner === undefined ? read : { ...(holder as Fields | undefined), [inner]: read }
    spelled.set(pointerOf(path, is.replace('.', '/'), prefix), pointerOf(path, name, prefix))
    warn(`"${name}" is an alias of "${is}"${remark === undefined ? '' : `; ${remark}`}`)
  }

  const own = renamed(schema, value, '')
  if (prefix === '?' && isFields(own) && typeof own.status === 'string') own.status = statuses(own.status, warn)
  if (errors.length > 0)
    throw new Refusal('REQUEST_INVALID', `${errors[0]!.pointer}: ${errors[0]!.message}`, { errors })
  return { value: own, warnings: [...warnings.values()], spelled }
}

type Fields = Record<string, unknown>

interface Place {
  readonly fields: Fields
  readonly at: z.ZodObject
  readonly path: string
}

function statuses(text: string, warn: (text: string) => unknown): string {
  const words = text.split(',').map((word) => {
    const is = Object.hasOwn(STATUS_ALIASES, word) ? STATUS_ALIASES[word]! : word
    if (is !== word) warn(`status "${word}" is an alias of "${is}"`)
    return is
  })
  return [...new Set(words)].join(',')
}

const pointerOf = (path: string, name: string, prefix: '' | '?'): string =>
  prefix === '?' ? `?${name}` : `${path}/${name}`

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
