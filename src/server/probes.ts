/** A small unauthenticated HTTP server for `/healthz`, `/readyz` and `/metrics`. It does not load the REST API. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkKeys, readInteger, readName } from '../options.ts'
import { type Core, coreOf } from '../scheduler/core.ts'
import type { Metrics } from './metrics/metrics.ts'
import { problemOf, Refusal } from './problem.ts'
import { type CheckReady, createReadiness } from './readiness.ts'

export interface ProbeOptions {
  /** Default: `127.0.0.1`, this machine only. */
  readonly host?: string
  /** Default: 4411; 0 picks a free port. */
  readonly port?: number
}

export interface Probes {
  readonly url: string
  readonly port: number
  /** Stopping the app calls it after the active runs have ended. Idempotent. */
  close(): Promise<void>
}

/** How long to wait for responses in flight. */
const WAIT_LIMIT_MS = 1000

export async function serveProbes(app: object, options: ProbeOptions = {}): Promise<Probes> {
  checkKeys(options, ['host', 'port'], 'serveProbes()')
  const host = readName(options.host ?? '127.0.0.1', 'host')
  const port = readInteger(options.port ?? 4411, 'port', [0, 65_535])
  const core = coreOf(app)
  // Created now, not at the first scrape, because it starts to measure the event loop delay.
  const { processMetrics } = await import('./metrics/metrics.ts')
  const metrics = processMetrics(core)
  const sources: Sources = { core, metrics, checkReady: createReadiness(core) }
  const node = createServer((request, response) => void answer(sources, request, response))
  await new Promise<void>((resolve, reject) => {
    node.once('error', reject)
    node.listen(port, host, resolve)
  })
  const { port: taken } = node.address() as AddressInfo
  let closing: Promise<void> | null = null
  const close = (): Promise<void> => {
    closing ??= (async () => {
      const closed = new Promise<void>((resolve) => node.close(() => resolve()))
      node.closeIdleConnections()
      const forget = core.timers.set(WAIT_LIMIT_MS, () => node.closeAllConnections())
      await closed
      forget()
      unheard()
    })()
    return closing
  }
  const unheard = core.onStop(close)
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`, port: taken, close }
}

interface Sources {
  readonly core: Core
  readonly metrics: Metrics
  readonly checkReady: CheckReady
}

/** The text and its content type. */
type Body = readonly [text: string, type: string]

const json = (value: unknown): Body => [JSON.stringify(value), 'application/json; charset=utf-8']

const ANSWERS: Readonly<Record<string, (sources: Sources) => Promise<Body>>> = {
  '/healthz': async () => json({ status: 'ok' }),
  async '/readyz'({ core, checkReady }) {
    if (!core.isRunning()) throw new Refusal('UNAVAILABLE', 'the app has not started, or is stopping')
    await checkReady()
    return json({ status: 'ready' })
  },
  '/metrics': async ({ metrics }) => [await metrics.text(), metrics.contentType],
}

/** Never throws: every error becomes a response. */
async function answer(sources: Sources, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const safety = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  try {
    const path = (request.url ?? '/').split('?', 1)[0]!
    if (!Object.hasOwn(ANSWERS, path))
      throw new Refusal('NOT_FOUND', `there is nothing at ${path.slice(0, 200)}`, {
        hint: `this process answers ${Object.keys(ANSWERS).join(', ')}; for the REST API, run: everytick serve`,
      })
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new Refusal('METHOD_NOT_ALLOWED', `${request.method} is not allowed here`, {
        headers: { allow: 'GET, HEAD' },
      })
    const [text, type] = await ANSWERS[path]!(sources)
    response.writeHead(200, { ...safety, 'content-type': type }).end(text)
  } catch (error) {
    const { problem, headers, isOurs } = problemOf(error, `req_${randomUUID()}`)
    if (isOurs) sources.core.settings.logger.error('a probe failed', { error })
    const type = { 'content-type': 'application/problem+json; charset=utf-8' }
    response.writeHead(problem.status, { ...safety, ...type, ...headers }).end(JSON.stringify(problem))
  }
}
