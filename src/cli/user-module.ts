/** Imports a user file and its imports, including TypeScript, on every runtime; `config-file.ts` reads its exports. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Jiti } from 'jiti'
import { compiledOnce } from './compiled-once.ts'
import { cacheHome } from './config.ts'
import { isUsers, registerImportHook } from './import-hook.ts'
import { noConfigRefusal } from './no-config.ts'

type Listener = (path: string) => void

/** For React 17 and later; other libraries set `@jsxImportSource` in a comment. */
const JSX = { runtime: 'automatic' } as const

const require = createRequire(import.meta.url)
const listeners = new Set<Listener>()
const reported = new Set<string>()
let isHooked = false

/** Calls the listener with the path of each user file loaded from now on. */
export function onUserFile(listener: Listener): void {
  listeners.add(listener)
}

export async function importUserModule(path: string): Promise<Record<string, unknown>> {
  // A last check, for a command that forgot to check --no-config.
  const refusal = noConfigRefusal('the code of this folder', 'leave out --no-config')
  if (refusal) throw refusal
  if (!isHooked) registerImportHook(report)
  isHooked = true
  const loader = await loaderFor(path)
  try {
    // Copy the exports: for a module without a default export, the loader returns the module itself as default.
    return { ...(await settled(loader.import<Record<string, unknown>>(path))) }
  } finally {
    // On older runtimes the hook does not see required files, such as JSON.
    for (const file of Object.keys(require.cache)) report(pathToFileURL(file).href)
  }
}

/** Node silently exits a process with an empty event loop, even while a module awaits. */
function settled<T>(loading: Promise<T>): Promise<T> {
  let onIdle = (): void => {}
  const stuck = new Promise<never>((_, reject) => {
    onIdle = () => reject(new Error('loading does not end: a top-level await waits for a promise that never settles'))
  })
  process.once('beforeExit', onIdle)
  return Promise.race([loading, stuck]).finally(() => process.removeListener('beforeExit', onIdle))
}

function report(url: string): void {
  if (!isUsers(url) || reported.has(url)) return
  reported.add(url)
  for (const listener of listeners) listener(fileURLToPath(url))
}

async function loaderFor(path: string): Promise<Jiti> {
  const { createJiti } = await import('jiti')
  const compiler = createJiti(import.meta.url, { fsCache: false })
  const folder = cacheFolder(dirname(path))
  return createJiti(path, {
    alias: ownModules(),
    tsconfigPaths: true,
    // We use our own cache in the project: other users of the machine may be able to write to the loader's cache.
    fsCache: false,
    transform(options) {
      const { filename = path } = options
      report(pathToFileURL(filename).href)
      const compiling = { ...options, filename, ...(/\.[jt]sx$/.test(filename) && { jsx: JSX }) }
      return { code: compiledOnce(folder, compiling, () => compiler.transform(compiling)) }
    },
  })
}

/** Jobs must come from the copy of everytick that runs them: the project may have another copy, or none. */
function ownModules(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    exports: Record<string, unknown>
  }
  const names = Object.keys(exports).map((door) => `everytick${door.slice(1)}`)
  return Object.fromEntries(names.map((name) => [name, require.resolve(name)]))
}

/** In node_modules of the project, else in the home folder of the user. */
function cacheFolder(folder: string): string {
  const packages = join(folder, 'node_modules')
  if (existsSync(packages)) return join(packages, '.cache', 'everytick', 'compiled')
  return dirname(folder) === folder
    ? join(cacheHome() ?? join(homedir(), '.cache'), 'everytick', 'compiled')
    : cacheFolder(dirname(folder))
}
