/** The backend of a command: a server over HTTP, or a database through the same REST app in this process, with the same responses. */
import type { StoreOption } from '../open-store.ts'
import { whereabouts } from './config.ts'
import type { Code, ExitName } from './exit.ts'
import { noConfigRefusal, withoutConfig } from './no-config.ts'
import { askServer, type ByteBudget, readJson, readRefusal, refuseRedirect } from './server-answer.ts'
import { UsageError } from './usage-error.ts'

export interface BackendOptions {
  readonly url?: string
  readonly token?: string
  readonly db?: string
  /** The configuration whose store to use if no other option names a backend. */
  readonly config?: string
}

/** Where a command reads and writes. */
export type Where =
  | { readonly kind: 'server'; readonly url: string; readonly token: string | undefined }
  | { readonly kind: 'store'; readonly store: StoreOption }

export interface AskOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Remaining bytes for the bodies of several responses. */
  readonly budget?: ByteBudget
}

export interface Backend {
  readonly kind: Where['kind']
  /** For people: the address, or the name of the store. */
  readonly name: string
  /** Returns the JSON of the response; throws a UsageError with its exit code if the backend rejects the request. */
  ask<Answer>(method: string, path: string, options?: AskOptions): Promise<Answer>
  /** Returns the response itself, for streams and other content than JSON. */
  fetch(method: string, path: string, options?: AskOptions): Promise<Response>
  close(): Promise<void>
}

/** Neither creates nor migrates a database: a read must not write, and a mistyped address must not create a database. */
export async function openBackend(options: BackendOptions): Promise<Backend> {
  const where = await whereOf(options)
  return where.kind === 'server' ? onServer(where.url, where.token) : onStore(where.store, 'refuse')
}

/** For the commands that may create and migrate the database they write to. */
export async function openUpToDateBackend(options: BackendOptions): Promise<Backend> {
  const where = await whereOf(options)
  return where.kind === 'server' ? onServer(where.url, where.token) : onStore(where.store, 'migrate')
}

/** An empty in-memory database, for checks that need no stored data. */
export const openEmptyBackend = (): Promise<Backend> => onStore('sqlite::memory:', 'migrate')

/** The backend named by the options, else the environment, else the project in this folder; undefined if none names one. */
export async function findWhere(options: BackendOptions): Promise<Where | undefined> {
  const around = whereabouts()
  withoutConfig(options.config)
  if (options.url !== undefined && options.db !== undefined)
    throw new UsageError('--url and --db exclude each other', { hint: 'leave out one of them' })
  const server = (url: string): Where => ({ kind: 'server', url, token: options.token ?? around.token })
  if (options.url !== undefined) return server(options.url)
  if (options.db !== undefined) return { kind: 'store', store: options.db }
  if (around.url !== undefined && options.config === undefined) return server(around.url)
  const store = around.db ?? (await (await import('./project-store.ts')).projectStore(options.config))
  return store === undefined ? undefined : { kind: 'store', store }
}

export async function whereOf(options: BackendOptions): Promise<Where> {
  const where = await findWhere(options)
  if (where !== undefined) return where
  const refusal = noConfigRefusal('a server or database', 'pass --url or --db, or set EVERYTICK_URL or DATABASE_URL')
  if (refusal) throw refusal
  throw new UsageError('No server or database given', {
    hint: 'pass --url or --db, or set EVERYTICK_URL and EVERYTICK_TOKEN, or DATABASE_URL',
  })
}

function onServer(url: string, token: string | undefined): Backend {
  // The message omits the value: it may be a database address with a password.
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError('--url is not a server address', {
      hint: 'use an address such as http://localhost:4410; for a database, use --db',
    })
  // An @ after the host may belong to a password that contains a slash.
  if (url.includes('@'))
    throw new UsageError('--url contains a user or a password', { hint: 'pass the API key with --token' })
  const base = `${url.replace(/\/+$/, '')}/api/v1`
  const auth: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const send = async (request: Request): Promise<Response> => {
    try {
      return await askServer(request)
    } catch (cause) {
      throw new UsageError(`cannot reach ${new URL(url).origin}`, {
        code: 'SERVER_UNREACHABLE',
        hint: 'check that the server is running at this address',
        cause,
      })
    }
  }
  return backendOf({ kind: 'server', name: url, base, headers: auth, send, close: async () => {} })
}

async function onStore(store: StoreOption, older: 'migrate' | 'refuse'): Promise<Backend> {
  const [{ everytick }, { createServer }, { coreOf }] = await Promise.all([
    import('../scheduler.ts'),
    import('../server/app.ts'),
    import('../scheduler/core.ts'),
  ])
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const app = everytick({ store, jobs: [], foreignJobs: true, migrate: older === 'migrate', logger: quiet })
  const { fetch: send } = createServer(app, {
    backgroundTasks: false,
    authorize: () => ({ scope: 'admin', name: 'cli' }),
  })
  const close = async (): Promise<void> => {
    await app.stop()
    // The app does not close a store that the configuration opened.
    if (typeof store !== 'string') await store.close()
    await releaseFiles(store)
  }
  // Open the store now rather than with the first request: its own error is clearer than a failed request.
  const { name } = await coreOf(app)
    .store()
    .catch(async (error: unknown) => {
      await close()
      throw error
    })
  return backendOf({ kind: 'store', name, base: 'http://localhost/api/v1', headers: {}, send, close })
}

/** So that a command leaves no extra files next to a SQLite file. */
export async function releaseFiles(store: StoreOption): Promise<void> {
  if (typeof store !== 'string' || !/^sqlite:/i.test(store)) return
  const { releaseClosedFiles } = await import('../store/sqlite/driver.ts')
  await releaseClosedFiles()
}

interface Line {
  readonly kind: Where['kind']
  readonly name: string
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  readonly send: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
}

function backendOf({ kind, name, base, headers: own, send, close }: Line): Backend {
  const request = (method: string, path: string, { query = {}, body, headers = {} }: AskOptions): Request => {
    const url = new URL(base + path)
    for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, String(value))
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    return new Request(url, {
      method,
      headers: { ...own, ...type, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
  const waitForStop = async (method: string, path: string, options: AskOptions = {}): Promise<Response> => {
    const response = await send(request(method, path, options))
    refuseRedirect(response)
    if (!response.ok) throw await refusalOf(response)
    return response
  }
  return {
    kind,
    name,
    close,
    fetch: waitForStop,
    async ask<Answer>(method: string, path: string, options: AskOptions = {}) {
      const response = await waitForStop(method, path, options)
      return (await readJson(response, { budget: options.budget })) as Answer
    },
  }
}

/** Names in paths may contain any character. */
export const segment = (name: string): string => encodeURIComponent(name)

async function refusalOf(response: Response): Promise<UsageError> {
  const { status } = response
  const { code, detail, hint } = await readRefusal(response)
  return new UsageError(detail ?? `the server returned ${status}`, {
    ...(code === null ? { code: CODE_OF[status] ?? 'SERVER_FAILED' } : { code, otherwise: exitOfStatus(status) }),
    ...(hint === null ? {} : { hint }),
  })
}

/** For responses of a proxy between us and the server, which have no code. */
const CODE_OF: Readonly<Record<number, Code>> = { 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN', 404: 'NOT_FOUND' }

function exitOfStatus(status: number): ExitName {
  if (status === 401 || status === 403) return 'auth'
  if (status === 404 || status === 409 || status === 412) return 'notFound'
  return status === 400 || status === 422 || status === 413 ? 'usage' : 'failed'
}
