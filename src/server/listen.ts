/** A server of its own: listens on an address, and refuses to stand open where others can reach it. */
import type { AddressInfo } from 'node:net'
import { serve as serveNode } from '@hono/node-server'
import { checkKeys, readInteger, readName, refused } from '../options.ts'
import { coreOf } from '../scheduler/core.ts'
import type { Everytick } from '../scheduler.ts'
import { createServer } from './app.ts'
import { readServerOptions, type ServerOptions } from './settings.ts'

export interface ListenOptions extends ServerOptions {
  /** `127.0.0.1` when absent: this machine only. */
  readonly host?: string
  /** 4410 when absent; 0 takes a free one. */
  readonly port?: number
}

export interface Listening {
  readonly url: string
  readonly port: number
  /** Ends connections that follow events, waits for the rest, but not for long. Twice is once. */
  close(): Promise<void>
}

/** How long requests in flight are waited for. */
const WAIT_LIMIT_MS = 5000

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

/** The app is started and stopped by whoever made it. */
export async function serve(app: Everytick, options: ListenOptions = {}): Promise<Listening> {
  const { host = '127.0.0.1', port = 4410, ...rest } = options
  checkKeys({ host, port }, ['host', 'port'], 'serve()')
  readName(host, 'host')
  readInteger(port, 'port', [0, 65_535])
  if (readServerOptions(rest).access === 'open' && !LOOPBACK.has(host))
    throw refused(`a server without API keys cannot listen on ${host}`, 'leave out access, or listen on 127.0.0.1')
  const server = createServer(app, rest)
  const node = await new Promise<ReturnType<typeof serveNode>>((resolve, reject) => {
    const started = serveNode(
      {
        fetch: async (request, env) =>
          withoutErrors(await server.fetch(request, env as never), () => env.outgoing.destroy()),
        ...{ hostname: host, port },
      },
      () => resolve(started),
    )
    started.once('error', reject)
  }).catch(async (error) => {
    await server.end()
    throw error
  })
  const { port: taken } = node.address() as AddressInfo
  const { timers, onStop } = coreOf(app)
  let closing: Promise<void> | null = null
  const close = (): Promise<void> => {
    closing ??= (async () => {
      await server.end()
      const closed = new Promise<void>((resolve) => node.close(() => resolve()))
      if ('closeIdleConnections' in node) node.closeIdleConnections()
      // Somebody who never ends what they began to send must not keep a process from ending.
      const forget = timers.set(WAIT_LIMIT_MS, () => 'closeAllConnections' in node && node.closeAllConnections())
      await closed
      forget()
      unheard()
    })()
    return closing
  }
  const unheard = onStop(() => close())
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`, port: taken, close }
}

/** The adapter prints the error of a stream between the lines of the log. A stream of events or lines that breaks off closes its connection instead. */
function withoutErrors(answer: Response, disconnect: () => void): Response {
  const isStream = /^(?:text\/event-stream|application\/x-ndjson)/.test(answer.headers.get('content-type') ?? '')
  if (!answer.body || !isStream) return answer
  const reader = answer.body.getReader()
  // Also while the other end does not read.
  reader.closed.catch(disconnect)
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const part = await reader.read().catch(() => null)
        if (part?.value) controller.enqueue(part.value)
        else controller.close()
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: answer.status, headers: answer.headers })
}
