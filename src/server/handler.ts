/** A server as a function from requests to answers, for those who listen themselves. */
import { EverytickError } from '../errors.ts'
import { coreOf, notRunning } from '../scheduler/core.ts'
import type { Everytick } from '../scheduler.ts'
import { createServer, type Server } from './app.ts'
import { problemResponse, requestIdOf } from './dispatch.ts'
import type { Handler, NodeEnv } from './mounted.ts'
import { problemOf } from './problem.ts'
import { readServerOptions, type ServerOptions } from './settings.ts'

/** To be mounted wherever requests are spoken; it ends when the app stops, and begins again when the app was started again. */
export function handler(app: Everytick, options: ServerOptions = {}): Handler {
  const { basePath } = readServerOptions(options)
  const core = coreOf(app)
  let server: Server | null = null

  /** Throws while the app is stopped: a server begun then would look after nothing, and would not hear when that changes. */
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

/** By its headers: a Request of another realm is as good as ours. */
const notARequest = (): EverytickError =>
  new EverytickError('OPTION_INVALID', 'app.handler() expects a web Request and got something else', {
    hint: "in Express, Fastify and node:http, mount toNodeHandler(app.handler()) of 'everytick/server'",
  })
