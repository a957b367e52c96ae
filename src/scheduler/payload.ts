/** Holds payloads to the schema of their job, as they will be stored and as they were stored; when to ask is decided by the callers. */
import { EverytickError } from '../errors.ts'
import { type Json, toJsonText } from '../json.ts'
import { yieldToEventLoop } from '../time/in-steps.ts'

/** What Everytick reads of the Standard Schema interface, version 1; schemas of zod, valibot and arktype fit as they are. */
export interface PayloadSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>
    /** For the compiler only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** To write, to read and to check a payload of this length takes long enough for each to have a turn of its own. */
const LARGE_LENGTH = 65_536

/** A payload as it will be read back: JSON, within bounds, accepted by the schema. `where` begins the refusal. */
export async function storablePayload(
  schema: PayloadSchema | undefined,
  payload: unknown,
  where: string,
): Promise<Json> {
  if (!schema) {
    if (isNothing(payload)) return null
    const hint = 'give the job a payload schema, or leave the payload out'
    throw new EverytickError('PAYLOAD_INVALID', `${where}: the job has no schema and takes no payload`, { hint })
  }
  // Checked in the shape the run will see: a Date that becomes text is refused here and not at the first run.
  const text = toJsonText(payload, { what: `${where}: payload`, strict: true })
  if (text.length > LARGE_LENGTH) await yieldToEventLoop()
  const stored: Json = JSON.parse(text)
  if (text.length > LARGE_LENGTH) await yieldToEventLoop()
  await parsePayload(schema, stored, where)
  return stored
}

/** Clients that always send a payload send `null` or `{}` to a job that takes none. */
const isNothing = (payload: unknown): boolean =>
  payload === undefined || payload === null || (typeof payload === 'object' && JSON.stringify(payload) === '{}')

/**
 * What the handler gets; a stored payload may be older than the schema. A promise only where the schema takes time, or finds
 * fault: most answer at once that all is well, and thousands a second are asked.
 */
export function parsePayload(schema: PayloadSchema, stored: unknown, where: string): unknown {
  const answer = validate(schema, stored, where)
  if (!(answer instanceof Promise) && !answer.issues) return answer.value
  return judged({ schema, stored, answer }, where)
}

interface Judged {
  readonly schema: PayloadSchema
  readonly stored: unknown
  readonly answer: Validated<unknown> | Promise<Validated<unknown>>
}

async function judged({ schema, stored, answer: first }: Judged, where: string): Promise<unknown> {
  let answer = await first
  // JSON has no undefined: a payload that was left out is stored as null, and means whichever of both the schema takes.
  if (answer.issues && stored === null) {
    const absent = await validate(schema, undefined, where)
    if (!absent.issues) answer = absent
  }
  if (!answer.issues) return answer.value
  const [issue, ...more] = answer.issues
  const rest = more.length === 0 ? '' : ` (and ${more.length} more)`
  throw new EverytickError('PAYLOAD_INVALID', `${where}: ${pathText(issue)}: ${issue?.message ?? 'refused'}${rest}`, {
    hint: 'change the payload, or the schema of the job',
  })
}

function validate(schema: PayloadSchema, value: unknown, where: string): Judged['answer'] {
  const failed = (cause: unknown): never => {
    throw new EverytickError('PAYLOAD_INVALID', `${where}: the schema itself failed: ${String(cause)}`, { cause })
  }
  try {
    const answer = schema['~standard'].validate(value)
    // Asked in the way of `await`, since a schema may bring promises of its own kind.
    return 'then' in answer ? Promise.resolve(answer).catch(failed) : answer
  } catch (cause) {
    return failed(cause)
  }
}

/** Such as `payload.items[0].sku`. */
function pathText(issue: SchemaIssue | undefined): string {
  const keys = (issue?.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))
  return keys.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${String(key)}`),
    'payload',
  )
}
