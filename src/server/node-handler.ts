/** Adapts a handler to Node requests and responses, as Express, Fastify and `http.createServer` pass them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { problemResponse, requestIdOf } from './dispatch.ts'
import type { Handler } from './mounted.ts'
import { problemOf, Refusal } from './problem.ts'

/** A Node request with the fields that frameworks add. */
export type NodeRequest = IncomingMessage & {
  /** The path before the framework removed its mount point. */
  readonly originalUrl?: string
  /** The parsed body, from a body parser. */
  readonly body?: unknown
}

/** A Fastify request: wraps the Node request, and has the parsed body. */
export interface FastifyLikeRequest {
  readonly raw: IncomingMessage
  readonly body?: unknown
}

/** A Fastify reply; after `hijack` Fastify itself sends nothing. */
export interface FastifyLikeReply {
  readonly raw: ServerResponse
  hijack(): unknown
}

export type NodeHandler = (
  request: NodeRequest | FastifyLikeRequest,
  response: ServerResponse | FastifyLikeReply,
  next?: unknown,
) => Promise<void>

export function toNodeHandler(handler: Handler): NodeHandler {
  return async (request, response) => {
    const incoming = 'raw' in request ? Object.assign(request.raw, { body: request.body }) : request
    const outgoing = 'raw' in response ? response.raw : response
    if ('raw' in response) response.hijack()
    const aborted = new AbortController()
    // Also fires after a complete response, where abort has no effect.
    outgoing.once('close', () => aborted.abort())
    const answer = await answerOf(handler, incoming, aborted.signal)
    await send(answer, incoming, outgoing)
  }
}

async function answerOf(handler: Handler, incoming: NodeRequest, signal: AbortSignal): Promise<Response> {
  const headers = headersOf(incoming)
  try {
    const request = requestOf(handler.basePath, incoming, { headers, signal })
    return await handler(request, { incoming })
  } catch (error) {
    const { problem, headers: more } = problemOf(error, requestIdOf(new Request('http://localhost', { headers })))
    return problemResponse(problem, more)
  }
}

function headersOf({ headers }: NodeRequest): Headers {
  const found = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    // HTTP/2 pseudo-headers begin with a colon and belong to the URL.
    if (name.startsWith(':') || value === undefined) continue
    for (const each of Array.isArray(value) ? value : [value]) found.append(name, each)
  }
  return found
}

interface ScanBackoff {
  readonly headers: Headers
  readonly signal: AbortSignal
}

function requestOf(basePath: string, incoming: NodeRequest, { headers, signal }: ScanBackoff): Request {
  const { method = 'GET' } = incoming
  const url = urlOf(basePath, incoming)
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal })
  const body = bodyOf(incoming, headers)
  return new Request(url, { method, headers, signal, body, duplex: 'half' })
}

function urlOf(basePath: string, incoming: NodeRequest): string {
  const { url = '/', originalUrl = url } = incoming
  // A handler that knows its mount point gets the whole path; otherwise it gets the path without the mount point.
  const path = basePath !== '' && isBelow(originalUrl, basePath) ? originalUrl : url
  const scheme = 'encrypted' in incoming.socket && incoming.socket.encrypted ? 'https' : 'http'
  const address = `${scheme}://${incoming.headers.host ?? incoming.headers[':authority'] ?? 'localhost'}${path}`
  if (path.startsWith('/') && URL.canParse(address)) return address
  throw new Refusal('REQUEST_INVALID', 'the host or the path of the request is invalid')
}

const isBelow = (path: string, base: string): boolean =>
  path.startsWith(base) && /^(?:[/?#]|$)/.test(path.slice(base.length))

type Body = ReadableStream<Uint8Array> | Uint8Array | string

/** The request body; if a parser has consumed it already, the parsed value serialized again. */
function bodyOf(incoming: NodeRequest, headers: Headers): Body {
  const { body } = incoming
  if (!incoming.readableDidRead)
    return Readable.toWeb(incoming) as NodeReadableStream<Uint8Array> as ReadableStream<Uint8Array>
  // Neither header is right for the serialized body.
  headers.delete('content-length')
  headers.delete('content-encoding')
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  if (body === undefined || body === null) {
    throw new Refusal(
      'BODY_INVALID',
      'the body was consumed before it reached Everytick, and request.body is missing',
      {
        hint: 'mount the handler before the body parser, or pass the parsed body as request.body',
      },
    )
  }
  const isForm = /^application\/x-www-form-urlencoded/i.test(headers.get('content-type') ?? '')
  return isForm ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body)
}

async function send(answer: Response, incoming: NodeRequest, outgoing: ServerResponse): Promise<void> {
  outgoing.statusCode = answer.status
  for (const [name, value] of answer.headers) if (name !== 'set-cookie') outgoing.setHeader(name, value)
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies)
  if (!answer.body || incoming.method === 'HEAD') {
    await answer.body?.cancel()
    outgoing.end()
    return
  }
  // An event stream may be silent for long, and its client waits for the headers.
  outgoing.flushHeaders()
  await pump(answer.body, outgoing)
}

/** Cancels the source when the client disconnects, and applies backpressure while it is slow. */
async function pump(source: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = source.getReader()
  const leave = (): void => void reader.cancel().catch(() => {})
  outgoing.once('close', leave)
  try {
    if (outgoing.destroyed) leave()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (!outgoing.write(part.value)) await drained(outgoing)
    }
    outgoing.end()
  } catch (error) {
    // The response is partly sent; a normal end would make it look complete.
    outgoing.destroy(error as Error)
  } finally {
    outgoing.off('close', leave)
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.once('drain', done)
    outgoing.once('close', done)
  })
}
