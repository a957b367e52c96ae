/** Holds parts of a request against their schemas and says where they do not fit, with a guess at what was meant. */
import type { z } from 'zod'
import { nearestField } from '../did-you-mean.ts'
import { Refusal, type Spot } from './problem.ts'

/** What the schema makes of it; `prefix` tells parts of the address from fields of the body. */
export function validated<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  prefix: '' | '?' | '{}' = '',
): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = result.error.issues.slice(0, 20).flatMap((issue) => spotsOf(issue, schema, prefix))
  const [first] = errors
  const unknown = result.error.issues.find((issue) => issue.code === 'unrecognized_keys')
  const known = unknown ? keysOf(schema, unknown.path.map(String)) : []
  // Once for all of them: each has a guess of its own, where there is one.
  const hint = known.length > 0 ? `known are ${known.join(', ')}` : undefined
  const where = first?.pointer === '' || first === undefined ? '' : `${first.pointer}: `
  throw new Refusal('REQUEST_INVALID', `${where}${first?.message ?? 'it does not fit'}`, {
    errors,
    ...(hint === undefined ? {} : { hint }),
  })
}

function spotsOf(issue: z.core.$ZodIssue, schema: z.ZodType, prefix: string): Spot[] {
  const at = issue.path.map(String)
  const pointer = (path: readonly string[]): string =>
    prefix === ''
      ? path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
      : `${prefix}${path.join('.')}`
  if (issue.code !== 'unrecognized_keys') return [{ pointer: pointer(at), message: wordsOf(issue) }]
  const known = keysOf(schema, at)
  return issue.keys.slice(0, 20).map((key) => {
    const hint = hintFor(key, known)
    return {
      pointer: pointer([...at, key.slice(0, 60)]),
      message: 'is not known',
      ...(hint === undefined ? {} : { hint }),
    }
  })
}

function hintFor(key: string, known: readonly string[]): string | undefined {
  if ((key === 'enabled' || key === 'paused') && known.includes('cron'))
    return 'to pause or resume: POST /schedules/{id}/pause or /resume'
  const near = nearestField(key, known)
  return near && `did you mean ${near}?`
}

const wordsOf = ({ message }: z.core.$ZodIssue): string =>
  /received undefined$/.test(message) ? 'is missing' : message

/** The names that an object at this place may have; none when the place is not found. */
function keysOf(schema: z.ZodType, path: readonly string[]): string[] {
  let at: unknown = schema
  for (const part of path) at = inner(at)?.shape?.[part] ?? inner(at)?.element
  return Object.keys(inner(at)?.shape ?? {})
}

/** Looks through what is optional, has a default or is transformed. */
function inner(schema: unknown): { readonly shape?: Record<string, unknown>; readonly element?: unknown } | undefined {
  let at = schema as { shape?: Record<string, unknown>; def?: { innerType?: unknown; in?: unknown } } | undefined
  while (at && at.shape === undefined && (at.def?.innerType ?? at.def?.in))
    at = (at.def.innerType ?? at.def.in) as never
  return at
}
