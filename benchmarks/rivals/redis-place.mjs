/** A Redis of our own from the system's packages, as durable as its documentation recommends for queues: every command on disk within a second. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const NO_REDIS = 'there is no redis-server on the PATH; install it from the packages of your system'
const TICK_MS = 10
/** Outlives us, however we ended, only to end the server too and clear away its folder. */
const GUARD = `
  const [pid, folder] = process.argv.slice(1)
  process.stdin.resume().on('end', () => {
    try { process.kill(Number(pid)) } catch {}
    setTimeout(() => require('node:fs').rmSync(folder, { recursive: true, force: true }), 1000)
  })`

/** Null when there is none to start. */
export async function redisPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-redis-'))
  const where = join(folder, 'redis.sock')
  const files = ['--dir', folder, '--port', '0', '--unixsocket', where]
  const durable = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '']
  const server = spawn('redis-server', [...files, ...durable], { stdio: ['ignore', 'pipe', 'inherit'] })
  const version = await new Promise((resolve) => {
    let said = ''
    server.once('error', () => resolve(null))
    server.once('exit', () => resolve(null))
    server.stdout.on('data', (text) => {
      said += text
      if (/ready to accept connections/i.test(said)) resolve(/version=([\d.]+)/.exec(said)?.[1] ?? 'unknown')
    })
  })
  const clear = () => rmSync(folder, { recursive: true, force: true })
  if (version === null) {
    clear()
    return null
  }
  const ended = new Promise((resolve) => server.once('exit', resolve))
  const told = [String(server.pid), folder]
  const guard = spawn(process.execPath, ['-e', GUARD, ...told], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.unref()
  return {
    version,
    place: { kind: 'redis', where },
    serverCpuMs: () => cpuMsOf(server.pid),
    async close() {
      server.kill()
      await ended
      guard.kill()
      clear()
    },
  }
}

/** Null where this system does not tell. */
function cpuMsOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
    return (fields[11] + fields[12]) * TICK_MS
  } catch {
    return null
  }
}
