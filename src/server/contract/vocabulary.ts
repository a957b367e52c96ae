/** Schemas that several resources share: names, ids, instants, durations and pages. */
import { z } from 'zod'
import type { Json } from '../../json.ts'
import { invisibleIn } from '../../printable.ts'
import { idRange, MIN_DIGITS } from '../id-range.ts'

/** Gives a schema a name of its own in the OpenAPI document. */
export const components = z.registry<{ readonly id: string }>()

export function component<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  components.add(schema, { id })
  return schema
}

/** The part of `meta` that replaces what the document would say of a schema. */
export const documented = <Schema extends z.ZodType>(
  schema: Schema,
  openapi: Readonly<Record<string, unknown>>,
): Schema => schema.meta({ openapi }) as Schema

const ID = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/

export const Id = documented(z.string().regex(ID, 'is not an id').toLowerCase(), {
  type: 'string',
  format: 'uuid',
})
/** The beginning of an id, in a list's query: the ids that begin so. */
export const IdBeginning = documented(
  z.string().transform((text, context) => {
    const range = idRange(text)
    if (range) return range
    context.addIssue(`is not the beginning of an id: write ${MIN_DIGITS} or more of its hexadecimal digits`)
    return z.NEVER
  }),
  { type: 'string', minLength: MIN_DIGITS, maxLength: 36, examples: ['01a1e3f0'] },
)
/** Text that no store and no log line stumbles over: no control characters, no halves of characters. */
export const plainText = (min: number, max: number) =>
  documented(
    z
      .string()
      .min(min)
      .max(max)
      .refine((text) => !/[\p{Cc}\p{Surrogate}]/u.test(text), 'contains a control character or half a character'),
    { type: 'string', minLength: min, maxLength: max },
  )
/** A name that something may have already: in paths, and to choose from lists. */
export const StoredName = plainText(1, 200)
/** A new name, refused as the code API refuses it. */
export const Name = documented(
  z
    .string()
    .min(1)
    .max(200)
    .refine((text) => invisibleIn(text) === null, 'contains a character that does not show, or half a character'),
  { type: 'string', minLength: 1, maxLength: 200 },
)
/** Text of several lines, without what some store cannot hold. */
export const proseText = (min: number, max: number) =>
  documented(
    z
      .string()
      .min(min)
      .max(max)
      .refine((text) => !/[\0\p{Surrogate}]/u.test(text), 'contains a NUL or half a character'),
    { type: 'string', minLength: min, maxLength: max },
  )
/** RFC 3339 in UTC, as it is answered. */
export const Instant = documented(z.union([z.date(), z.string()]), { type: 'string', format: 'date-time' })
/** As it is asked for; what it means is read where it is used. */
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
  description: 'such as 10m, or none; 1h unless the job says otherwise',
})
/** Any JSON. It was read from JSON, and its size and depth were checked: to check each of its values again takes longer than all else. */
export const AnyJson = documented(
  z.custom<Json>(() => true),
  {},
)

/** A whole number in an address. */
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

/** Several of a set, joined by commas. `others` are other names, which have become words of the set before they are read here. */
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
              .map(([word, is]) => `${word} is another name of ${is}`)
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
/** A page ends before the stored content of its items exceeds this; it has one item at least. */
export const PAGE_BYTES = 512 * 1024

/** What may be large, and is in the items of a list only when it is asked for. */
export const queryInclude = <const Words extends readonly ['payload' | 'result', ...string[]]>(words: Words) =>
  documented(
    z
      .string()
      .max(100)
      .transform((text) => text.split(','))
      .pipe(
        z
          .array(z.enum(words, `is not known here: write ${words.join(',')}, or leave it out`))
          .min(1)
          .max(words.length),
      ),
    {
      type: 'array',
      items: { type: 'string', enum: [...words] },
      description: 'what is left out of the items of a list unless it is named here',
    },
  ).optional()

const Warning = component('Warning', z.object({ code: z.string(), at: Instant.nullable(), text: z.string() }))
export const Warnings = z.array(Warning)
/** Of answers to requests that may use other names of fields. */
export const WARNED = { warnings: Warnings.optional() }

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    data: z.array(item),
    page: z.object({ next: z.string().nullable(), hasMore: z.boolean() }),
    ...WARNED,
  })

export const ById = z.object({ id: Id })
export const Empty = z.strictObject({})
