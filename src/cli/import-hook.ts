/** Gives the modules that Node itself imports for the user this copy of everytick, and reports which of the user's files it loads; TypeScript is loaded by `user-module.ts`. */
import * as modules from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort } from 'node:worker_threads'

interface Context {
  readonly parentURL?: string | undefined
}
type Next<Context, Answer> = (what: string, context?: Context) => Answer

/** Newer runtimes call hooks in the same thread. */
const { registerHooks } = modules as unknown as { registerHooks?: (hooks: object) => void }
const OWN = new URL('..', import.meta.url).href
/** This file by its name, under which it lies in dist/ too: bundled, its own address may be that of another file. */
const HOOKS = new URL(`./import-hook${extname(fileURLToPath(import.meta.url))}`, import.meta.url)

const isOurs = (specifier: string): boolean => specifier === 'everytick' || specifier.startsWith('everytick/')

/** Neither of a package nor ours. */
export const isUsers = (url: string): boolean =>
  url.startsWith('file:') && !url.includes('/node_modules/') && !url.startsWith(OWN)

/** The file's own package may be another copy of ours, or none: jobs must be made by the code that runs them. */
const contextOf = (specifier: string, context: Context): Context =>
  isOurs(specifier) ? { ...context, parentURL: import.meta.url } : context

// The hooks as `register` wants them, in a thread of their own; this module is loaded there once more.
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
