/** Module hooks: user modules that Node imports get this copy of everytick, and each loaded user file is reported. `user-module.ts` loads TypeScript. */
import * as modules from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort } from 'node:worker_threads'

interface Context {
  readonly parentURL?: string | undefined
}
type Next<Context, Answer> = (what: string, context?: Context) => Answer

/** Newer runtimes call hooks in the main thread. */
const { registerHooks } = modules as unknown as { registerHooks?: (hooks: object) => void }
const OWN = new URL('..', import.meta.url).href
/** This file by name, as in dist/: in a bundle, `import.meta.url` may be another file. */
const HOOKS = new URL(`./import-hook${extname(fileURLToPath(import.meta.url))}`, import.meta.url)

const isOurs = (specifier: string): boolean => specifier === 'everytick' || specifier.startsWith('everytick/')

/** Neither in a package nor ours. */
export const isUsers = (url: string): boolean =>
  url.startsWith('file:') && !url.includes('/node_modules/') && !url.startsWith(OWN)

/** The project may have another copy of everytick, or none, but jobs must come from the copy that runs them. */
const contextOf = (specifier: string, context: Context): Context =>
  isOurs(specifier) ? { ...context, parentURL: import.meta.url } : context

// The hooks for `register`, which loads this module again in a separate thread.
let report: (url: string) => void = () => {}

export function initialize({ port }: { port: MessagePort }): void {
  port.unref()
  report = (url) => port.postMessage(url)
}

export const resolve = (specifier: string, context: Context, next: Next<Context, unknown>): unknown =>
  next(specifier, contextOf(specifier, context))

export function load(url: string, context: unknown, next: Next<unknown, unknown>): unknown {
  if (isUsers(url)) report(url)
  return next(url, context)
}

/** Calls back with the address of each file of the user's that Node imports from now on. */
export function registerImportHook(onLoaded: (url: string) => void): void {
  if (registerHooks) {
    report = onLoaded
    registerHooks({ resolve, load })
    return
  }
  const { port1, port2 } = new MessageChannel()
  port1.on('message', onLoaded).unref()
  modules.register(HOOKS, { data: { port: port2 }, transferList: [port2] })
}
