/** Finds a real Redis for tests: the one of REDIS_URL, or one of its own where a redis-server is installed; says why when there is none. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Options of ioredis. */
export interface RedisAddress {
  readonly host: string
  readonly port: number
  readonly username?: string
  readonly password?: string
  readonly db?: number
}

export interface TestRedis {
  readonly connection: RedisAddress
  close(): Promise<void>
}

/** Ends the server and clears its folder when we are gone, however we ended. */
const GUARD = `
  const [pid, folder] = process.argv.slice(1)
  process.stdin.resume().on('end', () => {
    try { process.kill(Number(pid)) } catch {}
    setTimeout(() => require('node:fs').rmSync(folder, { recursive: true, force: true }), 500)
  })`

const url = process.env.REDIS_URL
const isInstalled = (): boolean => spawnSync('redis-server', ['--version']).status === 0

/** Null when tests can have one. */
export const whyNoRedis: string | null =
  url || isInstalled() ? null : 'skipped: no REDIS_URL and no redis-server on the PATH'

export async function openRedis(): Promise<TestRedis> {
  return url ? { connection: addressOf(new URL(url)), close: async () => {} } : startRedis()
}

const addressOf = ({ hostname, port, username, password, pathname }: URL): RedisAddress => ({
  host: hostname,
  port: Number(port || 6379),
  ...(username ? { username: decodeURIComponent(username) } : {}),
  ...(password ? { password: decodeURIComponent(password) } : {}),
  ...(pathname.length > 1 ? { db: Number(pathname.slice(1)) } : {}),
})

/** A server of the test's own that can go away and come back with what it had. */
export async function startRedis(): Promise<TestRedis & { stop(): Promise<void>; start(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-redis-'))
  const port = await freePort()
  const place = ['--dir', folder, '--port', String(port), '--bind', '127.0.0.1']
  const memory = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  let stop = async (): Promise<void> => {}
  const start = async (): Promise<void> => {
    stop = await serving([...place, ...memory], folder)
  }
  await start()
  return {
    connection: { host: '127.0.0.1', port },
    start,
    stop: () => stop(),
    async close() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Answers a function that ends it. */
async function serving(options: readonly string[], folder: string): Promise<() => Promise<void>> {
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  const guard = spawn(process.execPath, ['-e', GUARD, String(server.pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  await new Promise<void>((resolve, reject) => {
    let said = ''
    server.stdout.on('data', (text) => {
      said += text
      if (/ready to accept connections/i.test(said)) resolve()
    })
    void ended.then(() => reject(new Error(`redis-server ended: ${said}`)))
  })
  return async () => {
    guard.kill()
    server.kill()
    await ended
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
