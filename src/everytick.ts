/** `everytick()`: an app that can also be reached over HTTP; the server's code is loaded when that is asked for. */

import { coreOf, keepCore } from './scheduler/core.ts'
import type { EverytickOptions } from './scheduler/settings.ts'
import type { Everytick as App } from './scheduler.ts'
import { everytick as createEverytick } from './scheduler.ts'
import { readServerOptions, type ServerOptions } from './server/settings.ts'

export interface Everytick extends App {
  /**
   * The REST interface as a function from a request to its answer, for Hono, Next, Fastify, Express or anything else that can
   * speak those. Closed to everybody who has no key, unless `authorize` says who they are.
   */
  handler(options?: ServerOptions): (request: Request) => Promise<Response>
}

export function everytick(options: EverytickOptions): Everytick {
  const app = createEverytick(options)
  const reachable: Everytick = Object.freeze({
    ...app,
    handler(given: ServerOptions = {}) {
      readServerOptions(given)
      // At once, and not with the first request: what goes with a server, such as alerts, begins with it.
      const made = import('./server/handler.ts').then(({ handler }) => handler(reachable, given))
      made.catch(() => {})
      return async (request: Request) => (await made)(request)
    },
  })
  keepCore(reachable, coreOf(app))
  return reachable
}
