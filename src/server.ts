/** The entry point `everytick/server`: the REST API, as a handler for your own server or as a standalone server. */
export { handler } from './server/handler.ts'
export { type Listening, type ListenOptions, serve } from './server/listen.ts'
export type { Handler, NodeEnv } from './server/mounted.ts'
export { type NodeHandler, type NodeRequest, toNodeHandler } from './server/node-handler.ts'
export type { AuthResult, ServerOptions } from './server/settings.ts'
