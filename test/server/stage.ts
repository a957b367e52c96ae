/** A server on a real store, with keys of every kind, and a short way to ask it something. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { z } from 'zod'
import { defineJob, type Everytick, type EverytickOptions, everytick } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { createServer, type Server } from '../../src/server/app.ts'
import type { Scope } from '../../src/server/scope.ts'
import type { ServerOptions } from '../../src/server/settings.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type StoreName = (typeof STORES)[number]

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read by whoever asked, and checked against its schema elsewhere.
  readonly body: any
  readonly headers: Headers
}

export type Ask = (method: string, path: string, options?: AskOptions) => Promise<Answer>

export interface AskOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** `admin` when absent; null: none. */
  readonly as?: string | null
}

export interface Stage extends AsyncDisposable {
  readonly app: Everytick
  readonly server: Server
  readonly tokens: Record<string, string>
  readonly ask: Ask
  /** Changes the database itself, as somebody with access to it would. */
  sql(text: string): Promise<void>
  /** Another node on the same database. */
  another(options?: ServerOptions): Promise<{ app: Everytick; server: Server }>
}

export const JOBS = [
  defineJob({ name: 'plain', run: (ctx) => void ctx.log.info('hello', { from: 'plain' }) }),
  defineJob({
    name: 'typed',
    payload: z.object({ account: z.string(), secret: z.string().optional(), amount: z.number().optional() }),
    redact: ['secret'],
    run: ({ account }) => ({ account }),
  }),
  defineJob({
    name: 'failing',
    retry: { attempts: 1 },
    run: () => {
      throw new Error('it fails always')
    },
  }),
]

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export async function addressOf(store: StoreName): Promise<{ address: string; end: () => Promise<void> }> {
  if (store === 'postgres') {
    const database = await createReadyDatabase()
    return { address: database.url, end: () => database.drop() }
  }
  const folder = mkdtempSync(join(tmpdir(), 'everytick-server-'))
  const address = `sqlite:${join(folder, 'everytick.db')}`
  return { address, end: async () => rmSync(folder, { recursive: true, force: true }) }
}

/** With an admin, an operator and a reader of everything, and the same three bound to the workspaces `a` and `b`. */
export async function openStage(
  store: StoreName,
  options: ServerOptions = {},
  appOptions: Partial<EverytickOptions> = {},
): Promise<Stage> {
  const { address, end } = await addressOf(store)
  const make = (given: ServerOptions): { app: Everytick; server: Server } => {
    const app = everytick({ store: address, jobs: JOBS, logger: quiet, ...appOptions })
    return { app, server: createServer(app, { rate: { burst: 1_000_000, perSecond: 1_000_000 }, ...given }) }
  }
  const { app, server } = make({ backgroundTasks: false, ...options })
  await coreOf(app).store()
  const tokens: Record<string, string> = {}
  for (const workspace of [null, 'a', 'b']) {
    for (const scope of ['read', 'operate', 'admin'] as Scope[]) {
      const name = workspace === null ? scope : `${workspace}-${scope}`
      tokens[name] = (await server.parts.keys.create({ name, scope, workspace, by: 'test', forMs: null })).token
    }
  }
  const others: Everytick[] = []
  return {
    app,
    server,
    tokens,
    ask: askOf(server, tokens),
    async sql(text) {
      if (store === 'sqlite') {
        const database = await openDatabase(address.slice('sqlite:'.length))
        database.exec(text)
        database.close()
        return
      }
      const client = new pg.Client({ connectionString: address })
      await client.connect()
      await client.query(text)
      await client.end()
    },
    async another(given = {}) {
      const other = make(given)
      others.push(other.app)
      return other
    },
    async [Symbol.asyncDispose]() {
      for (const each of [app, ...others]) await each.stop()
      await end()
    },
  }
}

export function askOf(server: Pick<Server, 'fetch'>, tokens: Record<string, string>): Ask {
  return async (method, path, { body, headers = {}, as = 'admin' } = {}) => {
    const base = path.startsWith('/api/') || path.startsWith('/setup') ? '' : '/api/v1'
    const init = {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(as === null ? {} : { authorization: `Bearer ${tokens[as] ?? as}` }),
        host: 'localhost',
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    const response = await server.fetch(new Request(`http://localhost${base}${path}`, init))
    const text = await response.text()
    const isJson =
      /json/.test(response.headers.get('content-type') ?? '') &&
      !/ndjson/.test(response.headers.get('content-type') ?? '')
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
  }
}
