/** Other names that requests may use for our fields, in one table, and how a request in them becomes one in ours; what the fields mean is decided where they are read. */
import { z } from 'zod'
import { Refusal, type Spot } from './problem.ts'
import type { WarningBody } from './warnings.ts'

export interface Alias {
  readonly name: string
  /** The field that it stands for; with a dot, a field inside another. */
  readonly is: string
  /** What is accepted under this name, where that differs from what the field itself accepts. */
  readonly schema?: z.ZodType
  /** From a value that the schema accepted. */
  readonly convert?: (value: never) => unknown
  /** What the reader has to know beside the other name. */
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
    // The blueprint hands it to its queue as the number of attempts; a queue makes one attempt at least.
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
/** The states of the blueprint's executions. What it dispatched waits for a worker here. */
export const STATUS_ALIASES: Readonly<Record<string, string>> = { completed: 'succeeded', dispatched: 'pending' }

/** Those that an object with these fields takes. */
export const aliasesOf = (fields: Readonly<Record<string, unknown>>): readonly Alias[] =>
  FIELD_ALIASES.filter(({ name, is }) => is.split('.')[0]! in fields && !(name in fields))

/** Schemas of objects that take aliases. */
const ALIASED = new WeakSet<z.ZodType>()

export function withAliases<Schema extends z.ZodObject>(schema: Schema): Schema {
  ALIASED.add(schema)
  return schema
}

/** The aliases of a schema; none where it takes none. */
export const aliasesIn = (schema: unknown): readonly Alias[] =>
  schema instanceof z.ZodObject && ALIASED.has(schema) ? aliasesOf(schema.shape) : []

/** What an alias accepts. */
export const acceptedBy = ({ is, schema }: Alias, fields: Readonly<Record<string, unknown>>): z.ZodType =>
  schema ?? (fields[is] as z.ZodType)

export interface Translated {
  readonly value: unknown
  readonly warnings: readonly WarningBody[]
  /** Pointers of our fields, with the pointers that the caller wrote. */
  readonly spelled: ReadonlyMap<string, string>
}

/** A request in our names. Refuses an alias beside its own field, and values that the alias does not accept. */
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
    // Without a prototype, so that every name is a name like any other.
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
