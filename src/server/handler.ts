/** The server as a request handler, to mount in an app with its own HTTP server. */
import { EverytickError } from '../errors.ts'
import { coreOf, notRunning } from '../scheduler/core.ts'
import type { Everytick } from '../scheduler.ts'
import { createServer, type Server } from './app.ts'
import { problemResponse, requestIdOf } from './dispatch.ts'
import type { Handler, NodeEnv } from './mounted.ts'
import { problemOf } from './problem.ts'
import { readServerOptions, type ServerOptions } from './settings.ts'

/** Creates the handler. It stops with the app, and restarts when the app is started again. */
export function handler(app: Everytick, options: ServerOptions = {}): Handler {
  const { basePath } = readServerOptions(options)
  const core = coreOf(app)
  let server: Server | null = null

  /** Throws while the app is stopped: a server created then would run no background tasks, and would not notice a later start. */
  const begun = (): Server => {
    if (server) return server
    if (core.isStopped()) throw notRunning()
    const forget = core.onStop(() => {
      server = null
      forget()
    })
    server = createServer(app, options)
    return server
  }

  if (!core.isStopped()) begun()
  const answer = async (request: Request, env?: NodeEnv): Promise<Response> => {
    if (typeof request?.headers?.get !== 'function') throw notARequest()
    try {
      return await begun().fetch(request, env)
    } catch (error) {
      const { problem, headers } = problemOf(error, requestIdOf(request))
      return problemResponse(problem, headers)
    }
  }
  return Object.assign(answer, { basePath })
}

/** Checks the headers instead of instanceof, because a Request may come from another realm. */
const notARequest = (): EverytickError =>
  new EverytickError('OPTION_INVALID', 'app.handler() expects a web Request and got something else', {
    hint: "in Express, Fastify and node:http, mount toNodeHandler(app.handler()) of 'everytick/server'",
  })
