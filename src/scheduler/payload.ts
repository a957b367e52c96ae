/** Validates payloads with the schema of their job, before they are stored and before a run executes. */
import { EverytickError } from '../errors.ts'
import { type Json, toJsonText } from '../json.ts'
import { yieldToEventLoop } from '../time/in-steps.ts'

/** The part of the Standard Schema interface (version 1) that Everytick uses; schemas of zod, valibot and arktype have it. */
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

/** Writing, parsing and validating payloads from this length on take so long that the event loop gets a turn between them. */
const LARGE_LENGTH = 65_536

/** Returns the payload as it will be read back: JSON within the size limit, accepted by the schema. `where` prefixes errors. */
export async function storablePayload(
  schema: PayloadSchema | undefined,
  payload: unknown,
  where: string,
): Promise<Json> {
  if (!schema) {
    if (isNothing(payload)) return null
    const hint = 'add a payload schema to the job, or remove the payload'
    throw new EverytickError('PAYLOAD_INVALID', `${where}: the job has no payload schema, so it takes no payload`, {
      hint,
    })
  }
  // Validated in the form that the run will receive: a Date that becomes text fails here and not in the first run.
  const text = toJsonText(payload, { what: `${where}: payload`, strict: true })
  if (text.length > LARGE_LENGTH) await yieldToEventLoop()
  const stored: Json = JSON.parse(text)
  if (text.length > LARGE_LENGTH) await yieldToEventLoop()
  await parsePayload(schema, stored, where)
  return stored
}

/** Clients that always send a payload send `null` or `{}` to a job without one. */
const isNothing = (payload: unknown): boolean =>
  payload === undefined || payload === null || (typeof payload === 'object' && JSON.stringify(payload) === '{}')

/**
 * Returns the payload for the handler; a stored payload may be older than the schema. Returns a promise only if the schema is
 * asynchronous or rejects: most schemas accept synchronously, and thousands of payloads a second are validated.
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
  // JSON has no undefined: a missing payload is stored as null, so both null and undefined are tried.
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
    throw new EverytickError('PAYLOAD_INVALID', `${where}: the payload schema threw an error: ${String(cause)}`, {
      cause,
    })
  }
  try {
    const answer = schema['~standard'].validate(value)
    // Checks for `then` as `await` does, because a schema may return promises of another library.
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
