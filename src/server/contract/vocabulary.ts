/** Schemas that several resources share: names, ids, instants, durations and pages. */
import { z } from 'zod'
import type { Json } from '../../json.ts'
import { invisibleIn } from '../../printable.ts'
import { idRange, MIN_DIGITS } from '../id-range.ts'

/** Schemas that have a name in the OpenAPI document. */
export const components = z.registry<{ readonly id: string }>()

export function component<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  components.add(schema, { id })
  return schema
}

/** The part of `meta` that replaces the generated description of a schema. */
export const documented = <Schema extends z.ZodType>(
  schema: Schema,
  openapi: Readonly<Record<string, unknown>>,
): Schema => schema.meta({ openapi }) as Schema

const ID = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/

export const Id = documented(z.string().regex(ID, 'is not an id').toLowerCase(), {
  type: 'string',
  format: 'uuid',
})
/** The beginning of an id, in the query of a list: it selects every id that begins with it. */
export const IdBeginning = documented(
  z.string().transform((text, context) => {
    const range = idRange(text)
    if (range) return range
    context.addIssue(`is not the beginning of an id: write at least ${MIN_DIGITS} hexadecimal digits`)
    return z.NEVER
  }),
  { type: 'string', minLength: MIN_DIGITS, maxLength: 36, examples: ['01a1e3f0'] },
)
/** Text that every store and every log can hold: no control characters, no lone surrogates. */
export const plainText = (min: number, max: number) =>
  documented(
    z
      .string()
      .min(min)
      .max(max)
      .refine(
        (text) => !/[\p{Cc}\p{Surrogate}]/u.test(text),
        'contains a control character or an incomplete character',
      ),
    { type: 'string', minLength: min, maxLength: max },
  )
/** A name that may be stored already: for paths and filters. */
export const StoredName = plainText(1, 200)
/** A new name, validated like a name in the code API. */
export const Name = documented(
  z
    .string()
    .min(1)
    .max(200)
    .refine((text) => invisibleIn(text) === null, 'contains an invisible or incomplete character'),
  { type: 'string', minLength: 1, maxLength: 200 },
)
/** Text of several lines, without the characters that some store cannot hold. */
export const proseText = (min: number, max: number) =>
  documented(
    z
      .string()
      .min(min)
      .max(max)
      .refine((text) => !/[\0\p{Surrogate}]/u.test(text), 'contains a NUL or an incomplete character'),
    { type: 'string', minLength: min, maxLength: max },
  )
/** An instant in a response: RFC 3339 in UTC. */
export const Instant = documented(z.union([z.date(), z.string()]), { type: 'string', format: 'date-time' })
/** An instant in a request; its consumer parses it. */
export const InstantText = documented(z.string().min(1).max(64), { type: 'string', format: 'date-time' })
export const durationError = ({ input }: { readonly input?: unknown }): string | undefined =>
  typeof input === 'number' ? `is text with a unit: "${input}s" for seconds, "${input}ms" for milliseconds` : undefined
export const DurationText = documented(z.string({ error: durationError }).min(1).max(64), {
  type: 'string',
  examples: ['5m', '1h30m'],
  description: 'such as 5m or 1h30m',
})
/** How long an attempt may take. */
export const TimeoutText = documented(z.string({ error: durationError }).min(1).max(64), {
  type: 'string',
  examples: ['10m', 'none'],
  description: 'such as 10m, or none; the default is the timeout of the job, or 1h',
})
/** Any JSON. The parser has checked its size and depth; checking every value again would take most of the request's time. */
export const AnyJson = documented(
  z.custom<Json>(() => true),
  {},
)

/** A whole number in a query string. */
export const queryInteger = (min: number, max: number) =>
  documented(
    z
      .string()
      .regex(/^\d{1,12}$/, 'is not a whole number')
      .transform(Number)
      .pipe(z.int().min(min).max(max)),
    { type: 'integer', minimum: min, maximum: max },
  )

export const queryBoolean = documented(
  z.enum(['true', 'false']).transform((text) => text === 'true'),
  { type: 'boolean' },
)

/** Several words of a set, separated by commas. `others` are aliases; the server has replaced them before this schema parses the value. */
export const queryList = <const Words extends readonly [string, ...string[]]>(
  words: Words,
  others: Readonly<Record<string, string>> = {},
) =>
  documented(
    z
      .string()
      .max(400)
      .transform((text) => text.split(','))
      .pipe(z.array(z.enum(words)).min(1).max(words.length)),
    {
      type: 'array',
      items: { type: 'string', enum: [...words, ...Object.keys(others)] },
      ...(Object.keys(others).length > 0
        ? {
            description: Object.entries(others)
              .map(([word, is]) => `${word} is an alias of ${is}`)
              .join('; '),
          }
        : {}),
    },
  )

export const PAGE = {
  limit: queryInteger(1, 200).optional(),
  cursor: z.string().min(1).max(2000).optional(),
}
export const DEFAULT_LIMIT = 50
/** A page ends before the stored content of its items exceeds this limit, but has at least one item. */
export const PAGE_BYTES = 512 * 1024

/** Fields that may be large: the items of a list have them only on request. */
export const queryInclude = <const Words extends readonly ['payload' | 'result', ...string[]]>(words: Words) =>
  documented(
    z
      .string()
      .max(100)
      .transform((text) => text.split(','))
      .pipe(
        z
          .array(z.enum(words, `is unknown here: use ${words.join(',')}, or leave it out`))
          .min(1)
          .max(words.length),
      ),
    {
      type: 'array',
      items: { type: 'string', enum: [...words] },
      description: 'large fields to include in the items of the list; without it they are left out',
    },
  ).optional()

const Warning = component('Warning', z.object({ code: z.string(), at: Instant.nullable(), text: z.string() }))
export const Warnings = z.array(Warning)
/** In responses to requests that may use aliases of field names. */
export const WARNED = { warnings: Warnings.optional() }

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    data: z.array(item),
    page: z.object({ next: z.string().nullable(), hasMore: z.boolean() }),
    ...WARNED,
  })

export const ById = z.object({ id: Id })
export const Empty = z.strictObject({})
