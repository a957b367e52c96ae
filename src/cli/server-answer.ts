/** Reads responses of a server, with limits on bytes and time, and without trusting their shape. */
import { printable } from '../printable.ts'
import { systemTimers } from '../time/timers.ts'
import { UsageError } from './usage-error.ts'

/** For one response: many times the size of a list page. */
const MAX_BYTES = 32 * 1024 * 1024
/** For an error response, which is a few sentences. */
const MAX_REFUSAL_BYTES = 256 * 1024
const MAX_MS = 120_000

/** The total bytes of several responses, such as the pages of one list. */
export interface ByteBudget {
  left: number
}

export interface ReadLimits {
  readonly maxBytes?: number
  readonly maxMs?: number
  readonly budget?: ByteBudget | undefined
}

/** The error for an unusable response; `why` follows the words "the server". */
export const badAnswer = (why: string, cause?: unknown): UsageError =>
  new UsageError(`the server ${why}`, {
    code: 'SERVER_FAILED',
    hint: 'check that --url is the address of an Everytick server of a compatible version',
    ...(cause === undefined ? {} : { cause }),
  })

export async function readText(response: Response, limits: ReadLimits = {}): Promise<string> {
  const { maxBytes = MAX_BYTES, maxMs = MAX_MS, budget } = limits
  const most = Math.min(maxBytes, budget?.left ?? maxBytes)
  const reader = response.body?.getReader()
  if (!reader) return ''
  let isLate = false
  const inTime = systemTimers.set(maxMs, () => {
    isLate = true
    void reader.cancel().catch(() => {})
  })
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (isLate) throw badAnswer(`did not complete its response within ${maxMs / 1000} s`)
      if (done) break
      bytes += value.length
      if (bytes > most) throw badAnswer(`returned more than ${Math.floor(most / 1024 / 1024)} MiB`)
      parts.push(value)
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw badAnswer('closed the connection before the end of its response', error)
  } finally {
    inTime()
    void reader.cancel().catch(() => {})
  }
  if (budget) budget.left -= bytes
  return new TextDecoder().decode(Buffer.concat(parts))
}

/** Null for a response without a body. */
export async function readJson(response: Response, limits: ReadLimits = {}): Promise<unknown> {
  const text = await readText(response, limits)
  if (response.status === 204) return null
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw badAnswer('returned a response that is not JSON', cause)
  }
}

/** The API key must not go to an address that only the server names. */
export function refuseRedirect({ status, headers }: Response): void {
  if (status < 300 || status > 399) return
  const to = headers.get('location')
  throw new UsageError(`the server redirects this request (${status})${to === null ? '' : `: ${to.slice(0, 500)}`}`, {
    code: 'SERVER_FAILED',
    hint: 'the CLI does not follow redirects: pass the final address of the server with --url',
  })
}

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/
const MAX_TEXT = 4000

/** The fields of an error response that have the expected form. */
export interface Refusal {
  readonly code: string | null
  readonly detail: string | null
  readonly hint: string | null
}

export async function readRefusal(response: Response): Promise<Refusal> {
  const limits = { maxBytes: MAX_REFUSAL_BYTES }
  const body: unknown = await readJson(response, limits).catch(() => null)
  const { code, detail, hint, errors } = fieldsOf(body)
  const hints = Array.isArray(errors) ? errors.map((each: unknown) => wordsOf(fieldsOf(each).hint)) : []
  return {
    code: typeof code === 'string' && CODE.test(code) ? code : null,
    detail: wordsOf(detail),
    hint: wordsOf(hint) ?? hints.find((each) => each !== null) ?? null,
  }
}

const fieldsOf = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}

const wordsOf = (text: unknown): string | null => (typeof text === 'string' ? printable(text.slice(0, MAX_TEXT)) : null)

let waitForStop = false

/** Sends a request to a remote server; throws the original error if it is unreachable or does not start to respond in time. */
export async function askServer(request: Request): Promise<Response> {
  waitForStop = true
  const late = new AbortController()
  const inTime = systemTimers.set(MAX_MS, () => late.abort())
  try {
    return await fetch(request, { redirect: 'manual', signal: late.signal })
  } finally {
    inTime()
  }
}

/** Turns an unexpected error after a request to a server into SERVER_FAILED: the response has an unexpected shape. */
export function unreadableAnswer(error: unknown): unknown {
  const isShape =
    error instanceof TypeError ||
    error instanceof URIError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  return waitForStop && isShape
    ? badAnswer(`returned a response that this command cannot read (${error.message})`, error)
    : error
}
