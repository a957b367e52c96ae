/** The door `everytick/server`: the REST interface, as a handler for an app of one's own or as a server of its own. */
export { handler } from './server/handler.ts'
export { type Listening, type ListenOptions, serve } from './server/listen.ts'
export type { Handler, NodeEnv } from './server/mounted.ts'
export { type NodeHandler, type NodeRequest, toNodeHandler } from './server/node-handler.ts'
export type { AuthResult, ServerOptions } from './server/settings.ts'
