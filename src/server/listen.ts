/** Listens on an address as a standalone server; refuses to run without keys where other machines can reach it. */
import type { AddressInfo } from 'node:net'
import { serve as serveNode } from '@hono/node-server'
import { checkKeys, readInteger, readName, refused } from '../options.ts'
import { coreOf } from '../scheduler/core.ts'
import type { Everytick } from '../scheduler.ts'
import { createServer } from './app.ts'
import { readServerOptions, type ServerOptions } from './settings.ts'

export interface ListenOptions extends ServerOptions {
  /** Default: `127.0.0.1`, this machine only. */
  readonly host?: string
  /** Default: 4410; 0 picks a free port. */
  readonly port?: number
}

export interface Listening {
  readonly url: string
  readonly port: number
  /** Ends event streams, then waits briefly for other requests. Idempotent. */
  close(): Promise<void>
}

/** How long to wait for requests in flight. */
const WAIT_LIMIT_MS = 5000

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

/** Does not start or stop the app; the caller does. */
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
      // A client that never finishes its request must not keep the process alive.
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

/** The adapter would print stream errors between log lines, so a broken event or log stream closes its connection instead. */
function withoutErrors(answer: Response, disconnect: () => void): Response {
  const isStream = /^(?:text\/event-stream|application\/x-ndjson)/.test(answer.headers.get('content-type') ?? '')
  if (!answer.body || !isStream) return answer
  const reader = answer.body.getReader()
  // Even while the client does not read.
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
