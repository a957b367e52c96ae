/** Sends one request to a user-supplied URL through the target guard: no redirects, ten seconds, a limited response. */
import type { Dispatcher } from 'undici'
import { EverytickError } from '../../errors.ts'
import { createGuard } from '../../targets/guard/guard.ts'

export interface HttpSending {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether the URL may reach this machine and private networks, or which hosts there. */
  readonly allowPrivate: boolean | readonly string[]
  readonly timeoutMs?: number
}

export type HttpAnswer =
  | { readonly ok: true; readonly status: number; readonly text: string }
  | { readonly ok: false; readonly error: string }

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 1024

/** Never throws: a failure is a result too. `ok` only means that a response arrived. */
export async function httpSend({ allowPrivate, timeoutMs = TIMEOUT_MS, ...sending }: HttpSending): Promise<HttpAnswer> {
  const signal = AbortSignal.timeout(timeoutMs)
  const guard = createGuard({ allowPrivate })
  try {
    const url = guard.check(sending.url)
    // Loaded with the first message: loading takes a while, and most servers send none.
    const { Agent, request } = await import('undici')
    // For this request only: the next one resolves and checks the name again.
    const dispatcher = new Agent({ connect: guard.connector({ timeoutMs }) })
    try {
      const { method, body = '' } = sending
      const headers = { ...sending.headers, 'user-agent': 'everytick' }
      const answer = await request(url, { dispatcher, method, headers, signal, ...(body === '' ? {} : { body }) })
      return { ok: true, status: answer.statusCode, text: await startOf(answer.body) }
    } finally {
      await dispatcher.destroy()
    }
  } catch (error) {
    if (signal.aborted) return { ok: false, error: 'the request timed out' }
    return { ok: false, error: reasonOf(error) }
  }
}

/** The beginning of a response body, for display; the rest is not read. */
async function startOf(answer: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MAX_ANSWER_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8')
}

/** The message of the guard, with a hint for channels, because the original hint is about jobs. */
export const refusedWords = ({ code, message, hint }: EverytickError): string =>
  code === 'TARGET_REFUSED' && message.includes('not public') && hint !== undefined
    ? `${message}: ${ALLOW_IT}`
    : message

const ALLOW_IT =
  'start the server that sends alerts with --private-channels, or with --channel-host and this host; in code set allowPrivate'

/** The error code of a failure, without the URL, because its path may be a secret. */
function reasonOf(error: unknown): string {
  if (error instanceof EverytickError) return refusedWords(error)
  const { code, message } = error as { code?: unknown; message?: unknown }
  return typeof code === 'string'
    ? `the connection failed: ${code}`
    : `the connection failed: ${String(message).slice(0, 100)}`
}
