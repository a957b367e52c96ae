/** Whom a command talks to: a server over HTTP, or a database through the same interface inside this process; the answers are the same. */
import { whereabouts } from './config.ts'
import type { EXIT } from './exit.ts'
import { UsageError } from './usage-error.ts'

export interface BackendOptions {
  readonly url?: string
  readonly token?: string
  readonly db?: string
  /** Whether a database is brought up to date when it is opened; true when absent. */
  readonly migrate?: boolean
}

export interface AskOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Backend {
  /** For people: the address, or the name of the store. */
  readonly name: string
  /** The JSON of the answer; a refusal is thrown as a UsageError with its exit code. */
  ask<Answer>(method: string, path: string, options?: AskOptions): Promise<Answer>
  /** The answer itself, for what is not JSON or comes bit by bit. */
  fetch(method: string, path: string, options?: AskOptions): Promise<Response>
  close(): Promise<void>
}

export async function openBackend(options: BackendOptions): Promise<Backend> {
  const { url, db, token } = await whereOf(options)
  return url === undefined ? onDatabase(db!, options.migrate ?? true) : onServer(url, token)
}

/** What was said, else what the environment says, else what the project in this folder has. */
export async function whereOf(options: BackendOptions): Promise<BackendOptions> {
  const around = whereabouts()
  if (options.url !== undefined && options.db !== undefined)
    throw new UsageError('--url and --db exclude each other', { hint: 'leave out one of them' })
  const token = options.token ?? around.token
  const said = <T extends BackendOptions>(where: T): BackendOptions =>
    token === undefined ? where : { ...where, token }
  if (options.url !== undefined) return said({ url: options.url })
  if (options.db !== undefined) return { db: options.db }
  if (around.url !== undefined) return said({ url: around.url })
  const db = around.db ?? (await (await import('./project-store.ts')).projectStore())
  if (db !== undefined) return { db }
  throw new UsageError('nobody said which server or database is meant', {
    hint: 'pass --url or --db, or set EVERYTICK_URL and EVERYTICK_TOKEN, or DATABASE_URL',
  })
}

function onServer(url: string, token: string | undefined): Backend {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`--url is an address such as http://localhost:4410, not ${url}`)
  const base = `${url.replace(/\/+$/, '')}/api/v1`
  const auth: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const send = async (request: Request): Promise<Response> => {
    try {
      return await fetch(request)
    } catch (cause) {
      throw new UsageError(`${url} cannot be reached`, { exit: 'failed', hint: 'is the server running there?', cause })
    }
  }
  return backendOf({ name: url, base, headers: auth, send, close: async () => {} })
}

async function onDatabase(db: string, migrate: boolean): Promise<Backend> {
  const [{ everytick }, { createServer }, { coreOf }] = await Promise.all([
    import('../scheduler.ts'),
    import('../server/app.ts'),
    import('../scheduler/core.ts'),
  ])
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const app = everytick({ store: db, jobs: [], foreignJobs: true, migrate, logger: quiet })
  const { fetch: send } = createServer(app, { duties: false, authorize: () => ({ scope: 'admin', name: 'cli' }) })
  // Now rather than with the first question: a database that cannot be reached says so better than a server that cannot.
  const { name } = await coreOf(app).store()
  return backendOf({ name, base: 'http://localhost/api/v1', headers: {}, send, close: () => app.stop() })
}

interface Line {
  readonly name: string
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  readonly send: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
}

function backendOf({ name, base, headers: own, send, close }: Line): Backend {
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
  const asked = async (method: string, path: string, options: AskOptions = {}): Promise<Response> => {
    const response = await send(request(method, path, options))
    if (!response.ok) throw await refusalOf(response)
    return response
  }
  return {
    name,
    close,
    fetch: asked,
    async ask<Answer>(method: string, path: string, options: AskOptions = {}) {
      const response = await asked(method, path, options)
      return (response.status === 204 ? null : await response.json()) as Answer
    },
  }
}

/** Names in paths may be anything. */
export const segment = (name: string): string => encodeURIComponent(name)

interface ProblemBody {
  readonly code?: string
  readonly detail?: string
  readonly hint?: string
  readonly errors?: readonly { readonly pointer: string; readonly hint?: string }[]
}

async function refusalOf(response: Response): Promise<UsageError> {
  const { status } = response
  const problem = (await response.json().catch(() => ({}))) as ProblemBody
  const hint = problem.hint ?? problem.errors?.find((each) => each.hint !== undefined)?.hint
  return new UsageError(problem.detail ?? `the server answered ${status}`, {
    exit: exitOf(status),
    ...(problem.code === undefined ? {} : { code: problem.code }),
    ...(hint === undefined ? {} : { hint }),
  })
}

function exitOf(status: number): keyof typeof EXIT {
  if (status === 401 || status === 403) return 'auth'
  if (status === 404 || status === 409 || status === 412) return 'notFound'
  return status === 400 || status === 422 || status === 413 ? 'usage' : 'failed'
}
