/** Sends one request to an address that somebody typed: resolved once, checked, and connected to just that; no redirects, ten seconds, a short answer. */
import { lookup } from 'node:dns/promises'
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isPublicAddress } from '../../targets/address.ts'

export interface HttpSending {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether it may lead to this machine or its neighbours. */
  readonly allowPrivate: boolean
  readonly timeoutMs?: number
}

export type HttpAnswer =
  | { readonly ok: true; readonly status: number; readonly text: string }
  | { readonly ok: false; readonly error: string }

export interface Resolved {
  readonly address: string
  readonly family: number
}

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 1024

/** Never throws: what goes wrong on the way is an answer too. `ok` only says that somebody answered. */
export async function httpSend(sending: HttpSending): Promise<HttpAnswer> {
  const signal = AbortSignal.timeout(sending.timeoutMs ?? TIMEOUT_MS)
  try {
    const url = new URL(sending.url)
    const addresses = await checkedAddresses(url.hostname, { allowPrivate: sending.allowPrivate, signal })
    if (typeof addresses === 'string') return { ok: false, error: addresses }
    return await answered(url, { sending, addresses, signal })
  } catch (error) {
    if (signal.aborted) return { ok: false, error: 'there was no answer in time' }
    return { ok: false, error: reasonOf(error) }
  }
}

/** All of them must be public: which one is tried first is not for the name's owner to choose. A text says why not. */
export async function checkedAddresses(
  hostname: string,
  { allowPrivate, signal }: { readonly allowPrivate: boolean; readonly signal: AbortSignal },
): Promise<readonly Resolved[] | string> {
  const addresses = await within(lookup(hostname.replace(/^\[|\]$/g, ''), { all: true, verbatim: true }), signal)
  if (addresses.length === 0) return 'the name has no address'
  if (allowPrivate || addresses.every(({ address }) => isPublicAddress(address))) return addresses
  return 'the name leads to an address that is not public'
}

/** A name server that is silent is not waited for either. */
function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  return Promise.race([work, late])
}

interface Way {
  readonly sending: HttpSending
  readonly addresses: readonly Resolved[]
  readonly signal: AbortSignal
}

function answered(url: URL, { sending, addresses, signal }: Way): Promise<HttpAnswer> {
  const { method, headers = {}, body = '' } = sending
  const options: RequestOptions = {
    method,
    signal,
    // No connection is kept: the next sending resolves and checks anew.
    agent: false,
    headers: { ...headers, 'user-agent': 'everytick', 'content-length': String(Buffer.byteLength(body)) },
    // The name is not asked for again, so that it cannot lead elsewhere now.
    lookup: (_, { all }, done) =>
      all ? done(null, [...addresses]) : done(null, addresses[0]!.address, addresses[0]!.family),
  }
  return new Promise((resolve, reject) => {
    const begin: (url: URL, options: RequestOptions) => ClientRequest =
      url.protocol === 'https:' ? httpsRequest : httpRequest
    const asking = begin(url, options)
    asking.on('error', reject)
    asking.on('response', (answer) => {
      startOf(answer).then((text) => resolve({ ok: true, status: answer.statusCode ?? 0, text }), reject)
    })
    asking.end(body)
  })
}

/** The beginning of an answer, for people; the rest is not even read. */
async function startOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MAX_ANSWER_BYTES) break
  }
  answer.destroy()
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8')
}

/** The code of a failure, without the address in it: a path may be a secret. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return typeof code === 'string'
    ? `the connection failed: ${code}`
    : `the connection failed: ${String(message).slice(0, 100)}`
}
