/** Reads what a server answers, bounded in bytes and time and without trusting its shape; which request is sent is the backend's matter. */
import { printable } from '../printable.ts'
import { systemTimers } from '../time/timers.ts'
import { UsageError } from './usage-error.ts'

/** Of one answer: many times what a page of a list has. */
const MAX_BYTES = 32 * 1024 * 1024
/** Of a refusal, which is a few sentences. */
const MAX_REFUSAL_BYTES = 256 * 1024
const MAX_MS = 120_000

/** How many bytes several answers may have together, such as the pages of one list. */
export interface ByteBudget {
  left: number
}

export interface ReadLimits {
  readonly maxBytes?: number
  readonly maxMs?: number
  readonly budget?: ByteBudget | undefined
}

/** An answer that this command cannot work with; `why` follows the words "the server". */
export const badAnswer = (why: string, cause?: unknown): UsageError =>
  new UsageError(`the server ${why}`, {
    code: 'SERVER_FAILED',
    hint: 'is --url the address of an Everytick server, and of a version like this one?',
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
      if (isLate) throw badAnswer(`did not end its answer within ${maxMs / 1000} s`)
      if (done) break
      bytes += value.length
      if (bytes > most) throw badAnswer(`answers more than ${Math.floor(most / 1024 / 1024)} MiB`)
      parts.push(value)
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw badAnswer('broke off its answer', error)
  } finally {
    inTime()
    void reader.cancel().catch(() => {})
  }
  if (budget) budget.left -= bytes
  return new TextDecoder().decode(Buffer.concat(parts))
}

/** Null for an answer without a body. */
export async function readJson(response: Response, limits: ReadLimits = {}): Promise<unknown> {
  const text = await readText(response, limits)
  if (response.status === 204) return null
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw badAnswer('answers something that is not JSON', cause)
  }
}

/** A key of ours must not follow to an address that only the server names. */
export function refuseRedirect({ status, headers }: Response): void {
  if (status < 300 || status > 399) return
  const to = headers.get('location')
  throw new UsageError(
    `the server sends this request elsewhere (${status})${to === null ? '' : `: ${to.slice(0, 500)}`}`,
    {
      code: 'SERVER_FAILED',
      hint: 'redirects are not followed: pass the address of the server itself with --url',
    },
  )
}

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/
const MAX_TEXT = 4000

/** What a refusal says, as far as it says it in our words. */
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

/** Sends a request to a server that is not ours; what cannot be reached, or does not begin to answer in time, is thrown as it is. */
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

/** What an error means that no code foresaw: where a server was asked, its answer has another shape than this command reads. */
export function unreadableAnswer(error: unknown): unknown {
  const isShape =
    error instanceof TypeError ||
    error instanceof URIError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  return waitForStop && isShape
    ? badAnswer(`answers something that this command cannot read (${error.message})`, error)
    : error
}
