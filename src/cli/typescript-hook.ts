/** Lets this process import a user's TypeScript as it stands: finds the file that is meant, and takes the types out where the runtime does not; what a file holds is for whoever imports it. */
import { readFileSync } from 'node:fs'
import * as modules from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort } from 'node:worker_threads'

interface Resolved {
  readonly url: string
  readonly format?: string | null
}
interface Loaded {
  readonly format: string
  readonly source?: unknown
  readonly shortCircuit?: boolean
}
interface Context {
  readonly parentURL?: string | undefined
}
type Next<Context, Answer> = (what: string, context?: Context) => Answer

/** Newer runtimes take types out by themselves, and call hooks in the same thread. */
const { registerHooks } = modules as unknown as { registerHooks?: (hooks: object) => void }
const stripsTypes = Boolean((process.features as { typescript?: unknown }).typescript)
const OWN = new URL('..', import.meta.url).href
/** This file by its name, under which it lies in dist/ too: bundled, its own address may be that of another file. */
const HOOKS = new URL(`./typescript-hook${extname(fileURLToPath(import.meta.url))}`, import.meta.url)

/** What else may be meant by a specifier that leads nowhere: `./x.js` stands for `./x.ts`, as TypeScript has it. */
export function othersOf(specifier: string): readonly string[] {
  if (!/^(?:\.{0,2}\/|file:)/.test(specifier)) return []
  const script = /^(.*)\.([mc]?)js$/.exec(specifier)
  if (script) return [`${script[1]}.${script[2]}ts`]
  return /\.\w+$/.test(specifier) ? [] : [`${specifier}.ts`, `${specifier}.js`, `${specifier}/index.ts`]
}

const isOurs = (specifier: string): boolean => specifier === 'everytick' || specifier.startsWith('everytick/')
const isTypescript = (url: string): boolean => /^file:.*\.m?ts$/.test(url)
const isUsers = (url: string): boolean =>
  url.startsWith('file:') && !url.includes('/node_modules/') && !url.startsWith(OWN)

/** The file's own package may be another copy of ours, or none: jobs must be made by the code that runs them. */
const contextOf = (specifier: string, context: Context): Context =>
  isOurs(specifier) ? { ...context, parentURL: import.meta.url } : context

/** Says that it is a module, so that the runtime need not guess. */
const asModule = (found: Resolved): Resolved =>
  stripsTypes && isTypescript(found.url) && isUsers(found.url) ? { ...found, format: 'module-typescript' } : found

/** Types become blanks, so that lines and columns stay what they are. */
async function stripped(url: string): Promise<Loaded> {
  const { transformSync } = await import('@swc/wasm-typescript')
  const path = fileURLToPath(url)
  try {
    const { code } = transformSync(readFileSync(path, 'utf8'), { mode: 'strip-only', filename: path, module: true })
    return { format: 'module', source: `${code}\n//# sourceURL=${url}`, shortCircuit: true }
  } catch (error) {
    throw syntaxError(path, error)
  }
}

function syntaxError(path: string, error: unknown): unknown {
  const { message, startLine, startColumn } = (error ?? {}) as {
    message?: string
    startLine?: number
    startColumn?: number
  }
  if (startLine === undefined) return error
  // Only the text of an error comes through to the thread that imports.
  return new SyntaxError(`${path}:${startLine}:${(startColumn ?? 0) + 1}: ${message}`)
}

// The hooks as `register` wants them, in a thread of their own; this module is loaded there once more.
let tell: (url: string) => void = () => {}

export function initialize({ port }: { port: MessagePort }): void {
  port.unref()
  tell = (url) => port.postMessage(url)
}

export async function resolve(
  specifier: string,
  context: Context,
  next: Next<Context, Promise<Resolved>>,
): Promise<Resolved> {
  try {
    return await next(specifier, contextOf(specifier, context))
  } catch (error) {
    for (const other of othersOf(specifier)) {
      const found = await next(other, context).catch(() => null)
      if (found) return found
    }
    throw error
  }
}

export async function load(url: string, context: unknown, next: Next<unknown, Promise<Loaded>>): Promise<Loaded> {
  if (isUsers(url)) tell(url)
  return isTypescript(url) && isUsers(url) ? stripped(url) : next(url, context)
}

/** The same for runtimes that call hooks in this thread, and take the types out themselves. */
const inThread = (onLoaded: (url: string) => void): object => ({
  resolve(specifier: string, context: Context, next: Next<Context, Resolved>): Resolved {
    try {
      return asModule(next(specifier, contextOf(specifier, context)))
    } catch (error) {
      for (const other of othersOf(specifier)) {
        try {
          return asModule(next(other, context))
        } catch {
          // The first refusal says best what was wrong.
        }
      }
      throw error
    }
  },
  load(url: string, context: unknown, next: Next<unknown, Loaded>): Loaded {
    if (isUsers(url)) onLoaded(url)
    return next(url, context)
  },
})

let listeners: ((path: string) => void)[] | null = null

/** From now on TypeScript can be imported. Calls back with the path of each file of the user's that is loaded. */
export function allowTypescript(onLoaded: (path: string) => void = () => {}): void {
  if (listeners) {
    listeners.push(onLoaded)
    return
  }
  listeners = [onLoaded]
  const told = (url: string): void => {
    for (const listener of listeners ?? []) listener(fileURLToPath(url))
  }
  if (registerHooks && stripsTypes) {
    registerHooks(inThread(told))
    return
  }
  const { port1, port2 } = new MessageChannel()
  port1.on('message', told).unref()
  modules.register(HOOKS, { data: { port: port2 }, transferList: [port2] })
}
