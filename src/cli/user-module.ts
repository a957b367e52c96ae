/** Imports a file of the user's with all that it imports, TypeScript included, whatever the runtime and its loaders can read; what the file says is for `config-file.ts`. */
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

/** As React 17 and its like take it; others name theirs in a comment: `@jsxImportSource`. */
const JSX = { runtime: 'automatic' } as const

const require = createRequire(import.meta.url)
const listeners = new Set<Listener>()
const reported = new Set<string>()
let isHooked = false

/** Calls back with the path of each file of the user's that is loaded from now on. */
export function onUserFile(listener: Listener): void {
  listeners.add(listener)
}

export async function importUserModule(path: string): Promise<Record<string, unknown>> {
  // The last gate, for a command that forgets the others.
  const refusal = noConfigRefusal('the code of this folder', 'leave out --no-config')
  if (refusal) throw refusal
  if (!isHooked) registerImportHook(report)
  isHooked = true
  const loader = await loaderFor(path)
  try {
    // Only what it exports itself: the loader answers a module without a default export as its own.
    return { ...(await settled(loader.import<Record<string, unknown>>(path))) }
  } finally {
    // Those that are required, such as JSON, pass by the hook of older runtimes.
    for (const file of Object.keys(require.cache)) report(pathToFileURL(file).href)
  }
}

/** Node ends a process that has nothing left to do without a word, also while a module of it waits. */
function settled<T>(loading: Promise<T>): Promise<T> {
  let onIdle = (): void => {}
  const stuck = new Promise<never>((_, reject) => {
    onIdle = () => reject(new Error('loading does not end: a top-level await waits for a promise that nothing settles'))
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
    // Ours, in the project: the loader's own may lie where other users of the machine can write.
    fsCache: false,
    transform(options) {
      const { filename = path } = options
      report(pathToFileURL(filename).href)
      const compiling = { ...options, filename, ...(/\.[jt]sx$/.test(filename) && { jsx: JSX }) }
      return { code: compiledOnce(folder, compiling, () => compiler.transform(compiling)) }
    },
  })
}

/** Jobs must be made by the code that runs them: the file's own package may be another copy of ours, or none. */
function ownModules(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    exports: Record<string, unknown>
  }
  const names = Object.keys(exports).map((door) => `everytick${door.slice(1)}`)
  return Object.fromEntries(names.map((name) => [name, require.resolve(name)]))
}

/** In the packages of the project, else in the home of the user. */
function cacheFolder(folder: string): string {
  const packages = join(folder, 'node_modules')
  if (existsSync(packages)) return join(packages, '.cache', 'everytick', 'compiled')
  return dirname(folder) === folder
    ? join(cacheHome() ?? join(homedir(), '.cache'), 'everytick', 'compiled')
    : cacheFolder(dirname(folder))
}
