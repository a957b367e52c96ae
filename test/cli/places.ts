/** Where the built program is pointed to in tests: a SQLite file, a Postgres database, a server; each with a worker that has some jobs. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, type Everytick, everytick } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { createKeys } from '../../src/server/keys.ts'
import { serve } from '../../src/server.ts'
import { type Ending, root } from '../built-package.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { needsProcess, runInProcess } from './in-process.ts'

export const PLACES = ['a SQLite file', 'a Postgres database', 'a server'] as const
export type PlaceName = (typeof PLACES)[number]

export interface Place extends AsyncDisposable {
  readonly app: Everytick
  /** `--db …`, or `--url … --token …`. */
  readonly where: readonly string[]
  /** A command pointed here, without a terminal. */
  run(...args: string[]): Promise<Ending>
}

const JOBS = [
  defineJob({
    name: 'plain',
    run: (ctx) => {
      ctx.log.info('hello', { from: 'plain' })
      return { sent: 3 }
    },
  }),
  defineJob({
    name: 'failing',
    retry: { attempts: 1 },
    run: () => {
      throw new Error('it fails \u001b[31malways')
    },
  }),
  // Ends when it is cancelled, and not before.
  defineJob({
    name: 'held',
    run: (ctx) => {
      ctx.log.info('began')
      return new Promise<void>((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('stopped'))))
    },
  }),
]
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export async function openPlace(name: PlaceName): Promise<Place> {
  const { address, end } = name === 'a Postgres database' ? await onPostgres() : onSqlite()
  const app = everytick({ store: address, jobs: JOBS, logger: quiet })
  await app.start()
  const where = name === 'a server' ? await served(app) : ['--db', address]
  return {
    app,
    where,
    run: (...args) => runProgram([...args, ...where]),
    async [Symbol.asyncDispose]() {
      await app.stop({ drain: '0s' })
      await end()
    },
  }
}

async function onPostgres(): Promise<{ address: string; end: () => Promise<void> }> {
  const database = await createReadyDatabase()
  return { address: database.url, end: () => database.drop() }
}

function onSqlite(): { address: string; end: () => Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-cli-'))
  const end = async (): Promise<void> => rmSync(folder, { recursive: true, force: true })
  return { address: `sqlite:${join(folder, 'everytick.db')}`, end }
}

async function served(app: Everytick): Promise<string[]> {
  const made = { name: 'test', scope: 'admin', workspace: null, by: 'test', forMs: null } as const
  const { token } = await createKeys(coreOf(app)).create(made)
  const { url } = await serve(app, { port: 0 })
  return ['--url', url, '--token', token]
}

const PROGRAM = join(root, 'dist', 'cli', 'main.js')
const { DATABASE_URL: _db, EVERYTICK_URL: _url, EVERYTICK_TOKEN: _token, ...around } = process.env
const env = { ...around, NO_COLOR: '1', FORCE_COLOR: '0' }

/** In a process of its own only where it has to be. */
export function runProgram(args: readonly string[]): Promise<Ending> {
  // In a folder where no project is.
  const cwd = tmpdir()
  if (!needsProcess(args, cwd)) return runInProcess(args, { cwd, env })
  return endOf(spawn(process.execPath, [PROGRAM, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

interface Streams {
  readonly stdout: NodeJS.ReadableStream
  readonly stderr: NodeJS.ReadableStream
  once(event: 'close', heard: (code: number | null) => void): unknown
}

function endOf(child: Streams): Promise<Ending> {
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}

export interface Terminal {
  /** All that was shown so far. */
  shown(): string
  type(text: string): void
  readonly ended: Promise<number | null>
}

/** The program on a terminal of its own. */
export function onTerminal(args: readonly string[]): Terminal {
  const command = ['stty cols 120;', 'exec', ...[process.execPath, PROGRAM, ...args].map(quoted)].join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...env, SHELL: '/bin/sh' } })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more))
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  return { shown: () => text, type: (keys) => void child.stdin.write(keys), ended }
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`
