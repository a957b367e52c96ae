/** Registers the routes on Hono, with responses for unknown paths and methods. Every request goes through `dispatch.ts`. */
import { setMaxListeners } from 'node:events'
import { Hono } from 'hono'
import { coreOf } from '../scheduler/core.ts'
import type { Everytick } from '../scheduler.ts'
import { alertingTasks } from './alerting/background-tasks.ts'
import { authenticator, tooMany } from './authenticate.ts'
import { type BackgroundTask, startBackgroundTasks } from './background-tasks.ts'
import { createOperationLimits } from './concurrency.ts'
import { dispatch, type Gates, problemResponse, requestIdOf } from './dispatch.ts'
import { docsPage } from './docs-page.ts'
import { createGuesses, WRONG_KEYS } from './guesses.ts'
import { createKeys } from './keys.ts'
import { createKnownJobs } from './known-jobs.ts'
import type { NodeEnv } from './mounted.ts'
import { createOpenStreams } from './open-streams.ts'
import { openApiDocument } from './openapi.ts'
import { ruleOf } from './operation-rules.ts'
import { operating } from './operations/operating.ts'
import { overviewPage } from './overview-page.ts'
import type { Parts } from './parts.ts'
import { problemOf, Refusal } from './problem.ts'
import { rolling } from './rolling.ts'
import type { Route } from './route.ts'
import { routesOf } from './routes.ts'
import { createSessions } from './sessions.ts'
import { readServerOptions, type ServerOptions } from './settings.ts'
import { askSetup, doSetup } from './setup-page.ts'
import { createSignIn } from './sign-in.ts'
import { askKey, takeKey, wantsPage } from './sign-in-page.ts'
import { throttle } from './throttle.ts'
import { ownVersion } from './version.ts'

export const API = '/api/v1'

export interface Server {
  readonly parts: Parts
  readonly routes: readonly Route[]
  fetch(request: Request, env?: NodeEnv): Promise<Response>
  /** Ends streams and background tasks; stopping the app calls it. */
  end(): Promise<void>
}

export function createServer(app: Everytick, options: ServerOptions): Server {
  const core = coreOf(app)
  const settings = readServerOptions(options)
  const keys = createKeys(core)
  const ending = new AbortController()
  // Every open stream adds a listener to this signal.
  setMaxListeners(0, ending.signal)
  const parts: Parts = {
    app,
    core,
    keys,
    sessions: createSessions(core, keys),
    keyGuesses: createGuesses(core.clock, WRONG_KEYS),
    settings,
    ending: ending.signal,
    jobs: createKnownJobs(core),
  }
  const signIn = createSignIn(parts)
  const base = `${settings.basePath}${API}`
  const routes = routesOf(parts, signIn)
  for (const { operation } of routes) ruleOf(operation)
  const gates: Gates = {
    authenticate: authenticator(parts, core.clock),
    throttle: throttle(core.clock, settings.rate),
    strangers: throttle(core.clock, settings.rate),
    limits: createOperationLimits(),
    streams: createOpenStreams(parts),
  }
  const hono = new Hono<{ Bindings: NodeEnv }>()
  for (const route of routes) {
    const { method, path } = route.operation
    hono.on(method.toUpperCase(), honoPath(base, path), (c) =>
      dispatch(parts, gates, {
        route,
        arrived: { request: c.req.raw, params: c.req.param(), address: addressOf(c.env), base },
      }),
    )
    // The paths where probes and scrapers look by convention.
    if (BARE.has(path))
      hono.on('GET', `${settings.basePath}${path}`, (c) =>
        dispatch(parts, gates, { route, arrived: { request: c.req.raw, params: {}, address: addressOf(c.env), base } }),
      )
  }
  hono.get(settings.basePath || '/', (c) => overview(c.req.raw, c.env))
  hono.get(`${settings.basePath}/api/docs`, (c) => docs(c.req.raw, addressOf(c.env)))
  hono.get(`${settings.basePath}/setup`, (c) => askSetup(c.req.raw))
  hono.post(`${settings.basePath}/setup`, (c) => {
    refuseTooMany(addressOf(c.env))
    return doSetup(parts, c.req.raw, base)
  })
  hono.post(`${settings.basePath}/sign-in`, (c) => {
    refuseTooMany(addressOf(c.env))
    return takeKey(parts, signIn, { request: c.req.raw, address: addressOf(c.env) })
  })
  /** Shows the sign-in page, unless the host authenticates callers and keys are not used. */
  const keyPage = (request: Request, page: string): Response | null =>
    wantsPage(request) && settings.access === 'keys' && !settings.authorize ? askKey(parts, page) : null
  const methodsOf = methodTable(routes, base)
  hono.notFound((c) => nowhere(c.req.raw, methodsOf(c.req.path)))
  hono.onError((error, c) => {
    const { problem, headers, isOurs } = problemOf(error, requestIdOf(c.req.raw))
    const { requestId } = problem
    if (isOurs) core.settings.logger.error('a request failed before it reached its handler', { requestId, error })
    return problemResponse(problem, headers)
  })
  const refuseTooMany = (address: string): void => {
    const seconds = gates.strangers.take(address)
    if (seconds > 0) throw tooMany(seconds)
  }
  let document: ReturnType<typeof openApiDocument> | null = null
  /** The page requires the same access as the OpenAPI document that it shows. */
  const docs = async (request: Request, address: string): Promise<Response> => {
    const requestId = requestIdOf(request)
    try {
      refuseTooMany(address)
      if (!settings.publicDocs && !(await gates.authenticate(request, address)))
        throw new Refusal('UNAUTHENTICATED', 'this page requires an API key', {
          hint: 'start the server with publicDocs to make it public',
          headers: { 'www-authenticate': 'Bearer' },
        })
      const operations = routes.map(({ operation }) => operation)
      document ??= openApiDocument(operations, { version: ownVersion(), base })
      return docsPage(document)
    } catch (error) {
      const { problem, headers } = problemOf(error, requestId)
      const form = problem.code === 'UNAUTHENTICATED' ? keyPage(request, '/api/docs') : null
      return form ?? problemResponse(problem, headers)
    }
  }
  /** The page calls the API with the credentials of its reader, so it needs no access rules of its own. */
  const overview = async (request: Request, env: NodeEnv): Promise<Response> => {
    const headers = new Headers(request.headers)
    const ask = async (path: string): Promise<unknown> => {
      const response = await hono.fetch(new Request(new URL(`${base}${path}`, request.url), { headers }), env)
      if (!response.ok) throw response
      return response.json()
    }
    return overviewPage(ask, settings.basePath).catch((refusal: unknown) => {
      if (refusal instanceof Response) return (refusal.status === 401 && keyPage(request, '/')) || refusal
      throw refusal
    })
  }
  const backgroundTasks = startBackgroundTasks(parts, backgroundTasksOf(parts))
  let closing: Promise<void> | null = null
  const end = (): Promise<void> => {
    forget()
    ending.abort()
    closing ??= Promise.all([backgroundTasks.stop(), gates.streams.stop()]).then(() => {})
    return closing
  }
  const forget = core.onStop(() => end())
  return { parts, routes, fetch: async (request, env) => hono.fetch(request, env), end }
}

const backgroundTasksOf = (parts: Parts): readonly BackgroundTask[] => [
  rolling,
  operating(parts),
  ...alertingTasks(parts),
]

const BARE: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

const honoPath = (base: string, path: string): string => `${base}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`

const addressOf = (env: NodeEnv | undefined): string => env?.incoming?.socket?.remoteAddress ?? ''

/** The methods that a path supports, for the `allow` header. */
function methodTable(routes: readonly Route[], base: string): (path: string) => string[] {
  const patterns = routes.map(({ operation: { method, path } }) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${base}${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))
  return (path) => [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
}

function nowhere(request: Request, allowed: readonly string[]): Response {
  const path = new URL(request.url).pathname.slice(0, 200)
  const refusal =
    allowed.length > 0
      ? new Refusal('METHOD_NOT_ALLOWED', `${request.method} is not allowed here`, {
          headers: { allow: allowed.join(', ') },
        })
      : new Refusal('NOT_FOUND', `no operation has the path ${path}`)
  const { problem, headers } = problemOf(refusal, requestIdOf(request))
  return problemResponse(problem, headers)
}
