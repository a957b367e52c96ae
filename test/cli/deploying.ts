/** For tests of what is done when something new goes out: a folder of files, a database that nobody works on, perhaps a server before it, and the built program. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Everytick, everytick } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { createKeys } from '../../src/server/keys.ts'
import { serve } from '../../src/server.ts'
import { type Ending, root } from '../built-package.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { needsProcess, runInProcess } from './in-process.ts'

export const BACKENDS = ['sqlite', 'postgres', 'server'] as const
export type BackendName = (typeof BACKENDS)[number]

export interface Site extends AsyncDisposable {
  readonly folder: string
  readonly address: string
  /** `--db …`, or `--url … --token …`. */
  readonly where: readonly string[]
  /** On the same database; plans and works only when it is started. */
  readonly app: Everytick
  write(file: string, text: string): void
  run(args: readonly string[], how?: { readonly input?: string; readonly terminal?: boolean }): Promise<Ending>
}

const PROGRAM = join(root, 'dist', 'cli', 'main.js')
const { DATABASE_URL: _db, EVERYTICK_URL: _url, EVERYTICK_TOKEN: _token, ...around } = process.env
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export async function openSite(backend: BackendName): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-deploy-'))
  const database = backend === 'postgres' ? await createReadyDatabase() : null
  const address = database?.url ?? `sqlite:${join(folder, 'everytick.db')}`
  const app = everytick({ store: address, jobs: [], foreignJobs: true, logger: quiet })
  await app.schedules.list()
  return {
    folder,
    address,
    app,
    where: backend === 'server' ? await served(app) : ['--db', address],
    write: (file, text) => writeFileSync(join(folder, file), text),
    run: (args, how = {}) => run(args, { ...how, folder }),
    async [Symbol.asyncDispose]() {
      await app.stop({ drain: '0s' })
      await database?.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function served(app: Everytick): Promise<string[]> {
  const made = { name: 'test', scope: 'admin', workspace: null, by: 'test', forMs: null } as const
  const { token } = await createKeys(coreOf(app)).create(made)
  const { url } = await serve(app, { port: 0 })
  return ['--url', url, '--token', token]
}

interface How {
  readonly folder: string
  readonly input?: string
  readonly terminal?: boolean
}

/** In a process of its own only where it has to be. */
function run(args: readonly string[], { folder, input = '', terminal = false }: How): Promise<Ending> {
  const env = { ...around, NO_COLOR: '1', FORCE_COLOR: '0', SHELL: '/bin/sh' }
  if (!terminal && !needsProcess(args, folder)) return runInProcess(args, { cwd: folder, env, input })
  const quoted = [process.execPath, PROGRAM, ...args].map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`)
  const [command, ...words] = terminal
    ? ['script', '-qec', quoted.join(' '), '/dev/null']
    : [process.execPath, PROGRAM, ...args]
  const child = spawn(command!, words, { cwd: folder, env })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  // Whoever does not read its input may have ended before it was written.
  child.stdin.on('error', () => {})
  if (terminal && input === '') child.once('close', () => child.stdin.end())
  else child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, out: out.replaceAll('\r\n', '\n'), err }))
  })
}
