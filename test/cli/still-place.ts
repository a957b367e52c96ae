/** A place to point the program to in which nobody plans or works, so that only what a test does happens there. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Everytick, everytick } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { createServer } from '../../src/server/app.ts'
import { createKeys } from '../../src/server/keys.ts'
import { serve } from '../../src/server.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import type { Ending } from '../built-package.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { onTerminal, runProgram } from './places.ts'

type Name = 'sqlite' | 'postgres' | 'server'

export interface StillPlace extends AsyncDisposable {
  /** Another hold on the same database, for what a test needs to be there. */
  readonly app: Everytick
  /** `--db` and an address, or `--url` and `--token`. */
  readonly where: readonly string[]
  /** Runs a command pointed here, its output in pipes. */
  run(...args: string[]): Promise<Ending>
  /** Runs several commands that do not disturb each other, four at a time; their ends in the order of the commands. */
  runAll(...commands: readonly (readonly string[])[]): Promise<Ending[]>
  /** Asks the interface within this process, to prepare or to look without a program; the JSON of the answer. */
  ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer>
  /** Runs a command on a terminal, on which both streams arrive together. */
  onTerminal(...args: string[]): Promise<Ending>
  /** Makes every schedule older by so many hours, behind the back of the store. */
  age(hours: number): Promise<void>
}

const AT_ONCE = 4

interface Database {
  readonly address: string
  readonly end: () => Promise<void> | void
  readonly age: StillPlace['age']
}

export const program = (...args: string[]): Promise<Ending> => runProgram(args)

export async function programOnTerminal(...args: string[]): Promise<Ending> {
  const { shown, ended } = onTerminal(args)
  const code = await ended
  return { code, out: shown().replaceAll('\r\n', '\n'), err: '' }
}

export async function openStill(name: Name): Promise<StillPlace> {
  const { address, end, age } = name === 'postgres' ? await postgres() : sqlite()
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const app = everytick({ store: address, jobs: [], foreignJobs: true, logger })
  const server = name === 'server' ? await served(app) : null
  const where = server?.where ?? ['--db', address]
  const run: StillPlace['run'] = (...args) => program(...args, ...where)
  const { fetch: send } = createServer(app, {
    backgroundTasks: false,
    authorize: () => ({ scope: 'admin', name: 'test' }),
  })
  return {
    ...{ app, where, age, run },
    async runAll(...commands) {
      const ends: Ending[] = []
      for (let i = 0; i < commands.length; i += AT_ONCE)
        ends.push(...(await Promise.all(commands.slice(i, i + AT_ONCE).map((args) => run(...args)))))
      return ends
    },
    async ask<Answer>(method: string, path: string, body?: unknown) {
      const sent =
        body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      const response = await send(new Request(`http://localhost/api/v1${path}`, { method, ...sent }))
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
      return (response.status === 204 ? null : await response.json()) as Answer
    },
    onTerminal: (...args) => programOnTerminal(...args, ...where),
    async [Symbol.asyncDispose]() {
      await server?.close()
      await app.stop()
      await end()
    },
  }
}

async function served(app: Everytick): Promise<{ where: readonly string[]; close: () => Promise<void> }> {
  const key = { name: 'test', scope: 'admin', workspace: null, by: 'test', forMs: null } as const
  const { token } = await createKeys(coreOf(app)).create(key)
  const { url, close } = await serve(app, { port: 0, backgroundTasks: false })
  return { where: ['--url', url, '--token', token], close }
}

async function postgres(): Promise<Database> {
  const { url, drop } = await createReadyDatabase()
  const age = async (hours: number): Promise<void> => {
    const client = new pg.Client(url)
    await client.connect()
    await client.query(`update everytick.schedules set since_at = since_at - interval '${hours} hours'`)
    await client.end()
  }
  return { address: url, end: drop, age }
}

function sqlite(): Database {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-cli-'))
  const path = join(folder, 'everytick.db')
  const age = async (hours: number): Promise<void> => {
    const database = await openDatabase(path)
    database.exec(`update everytick_schedules set since_at = since_at - ${hours * 3_600_000}`)
    database.close()
  }
  return { address: `sqlite:${path}`, end: () => rmSync(folder, { recursive: true, force: true }), age }
}
