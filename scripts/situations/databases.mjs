/** A database for each situation, SQLite or Postgres: how it is taken away and given back, and how its disk fills; nothing here knows a situation. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/** SQLSTATE. */
const DISK_FULL = '53100'
const LAUNCHER = fileURLToPath(new URL('../../test/postgres/launcher.ts', import.meta.url))

/** `disk`: a small disk of its own, which needs the right to mount. */
export async function openDatabase(store, { disk }) {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-database-'))
  // Postgres does not run as root.
  chmodSync(folder, 0o755)
  const small = disk ? smallDisk(join(folder, 'disk'), store === 'sqlite' ? '24m' : '192m') : null
  try {
    const database = await OPEN[store](small?.path ?? folder)
    return {
      ...database,
      /** Until nothing can be written any more. */
      async fill() {
        await database.prepare()
        small.fill()
        await database.exhaust()
      },
      async free() {
        small.free()
        await database.revive()
      },
      async close() {
        await database.close()
        small?.close()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    small?.close()
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Why a small disk cannot be had here; null when it can. */
export function whyNoDisk() {
  if (process.platform !== 'linux') return 'a small disk can be mounted on Linux only'
  if (process.getuid() !== 0) return 'mounting a small disk needs root'
  const folder = mkdtempSync(join(tmpdir(), 'everytick-disk-'))
  try {
    smallDisk(join(folder, 'disk'), '1m').close()
    return null
  } catch (error) {
    return `a small disk cannot be mounted: ${error.message.split('\n')[0]}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const mounted = new Set()
const unmount = (path) => {
  if (mounted.delete(path)) execFileSync('umount', ['-l', path], { stdio: 'pipe' })
}
process.once('exit', () => mounted.forEach(unmount))

function smallDisk(path, size) {
  mkdirSync(path)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=1777`, 'tmpfs', path], { stdio: 'pipe' })
  mounted.add(path)
  const ballast = join(path, 'ballast')
  return {
    path,
    fill() {
      const file = openSync(ballast, 'w')
      try {
        for (const bytes of [65_536, 4096]) {
          const block = Buffer.alloc(bytes)
          try {
            while (writeSync(file, block) === bytes);
          } catch (error) {
            if (error.code !== 'ENOSPC') throw error
          }
        }
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast, { force: true }),
    close: () => unmount(path),
  }
}

/** Another process of SQLite, as that of a backup or of a shell; it says `locked` and ends when its input ends. */
const HOLDER = `
  const open = async () => process.getBuiltinModule?.('node:sqlite') ?? (await import('@photostructure/sqlite'))
  const [path, work] = process.argv.slice(1)
  const { DatabaseSync } = await open()
  const database = new DatabaseSync(path)
  database.exec('pragma busy_timeout = 30000')
  if (work === 'checkpoint') database.prepare('pragma wal_checkpoint(truncate)').all()
  else {
    database.exec('begin immediate')
    console.log('locked')
    process.stdin.resume()
    process.stdin.once('end', () => { database.exec('rollback'); database.close() })
  }`
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const holder = (...args) =>
  spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', HOLDER, ...args], {
    ...{ cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] },
  })

/** Takes the pages that the server has left, and makes sure that it is out of them. */
async function growUntilFull(client) {
  try {
    await client.query(`create table more as select repeat('x', 1000) from generate_series(1, 100000)`)
  } catch ({ code, message }) {
    if (code === DISK_FULL) return
    throw new Error(`a full disk was to be answered with ${DISK_FULL}, not ${code}: ${message}`)
  } finally {
    await client.end()
  }
  throw new Error('the disk is not full')
}

const OPEN = {
  async sqlite(folder) {
    const path = join(folder, 'everytick.db')
    let locker = null
    const lock = async () => {
      locker = holder(path, 'lock')
      await once(locker.stdout, 'data')
    }
    const unlock = async () => {
      const ending = once(locker, 'close')
      locker.stdin.end()
      await ending
      locker = null
    }
    return {
      url: `sqlite:${path}`,
      takeAway: lock,
      giveBack: unlock,
      /** Whether nobody holds the lock for writing. */
      async isFree() {
        const child = holder(path, 'lock')
        const closed = once(child, 'close')
        const isLocked = once(child.stdout, 'data').then(() => true)
        const isFree = await Promise.race([isLocked, pause(3000, false, { ref: false })])
        if (isFree) child.stdin.end()
        else child.kill('SIGKILL')
        await closed
        return isFree
      },
      /** Its log of changes begins again: else it has room for many. */
      prepare: () => once(holder(path, 'checkpoint'), 'close'),
      async exhaust() {},
      async revive() {},
      async close() {
        if (locker) await unlock()
      },
    }
  },

  async postgres(folder) {
    const { runnerImport } = await import('vite')
    const { module: launcher } = await runnerImport(LAUNCHER)
    const server = await launcher.startPostgres({ own: true, folder })
    let client = null
    return {
      url: server.url,
      takeAway: () => server.halt(),
      giveBack: () => server.begin(),
      isFree: async () => true,
      /** A session that is there before: on a full disk a new one may find no room. */
      async prepare() {
        client = new pg.Client({ connectionString: server.url })
        await client.connect()
      },
      exhaust: () => growUntilFull(client),
      /** A server that a full disk ended is started again, as by whoever looks after it. */
      revive: () => server.begin(),
      close: () => server.stop(),
    }
  },
}
