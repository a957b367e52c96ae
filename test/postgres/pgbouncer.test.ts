/** The Postgres store behind a real PgBouncer in transaction mode, that keeps no prepared statements: skipped where there is none. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/postgres.ts'
import { claimed, newRun, SUCCEEDED, settled } from '../../src/testing/conformance/samples.ts'
import { until } from '../chaos/fleet.ts'
import type { Database } from './launcher.ts'
import { createReadyDatabase } from './ready-database.ts'

const versionOf = (): string | null => {
  try {
    return execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' })
  } catch {
    return null
  }
}
const version = versionOf()
/** Of 1.x; the setting is unknown before 21. */
const keepsStatements = Number(/ 1\.(\d+)/.exec(version ?? '')?.[1] ?? 0) >= 21
if (version === null) console.log('skipped: there is no pgbouncer on the PATH (Debian: apt-get install pgbouncer)')

let database: Database
let folder: string
let bouncer: ChildProcess
let address: string

describe.skipIf(version === null)('behind PgBouncer in transaction mode', () => {
  beforeAll(async () => {
    database = await createReadyDatabase()
    const direct = new URL(database.url)
    await (await openPostgres({ url: database.url })).close()
    const port = await freePort()
    folder = mkdtempSync(join(tmpdir(), 'everytick-pgbouncer-'))
    chmodSync(folder, 0o755)
    const ini = join(folder, 'pgbouncer.ini')
    const target = `host=${direct.hostname} port=${direct.port} user=${direct.username}${direct.password && ` password='${direct.password}'`}`
    const settings = { listen_addr: '127.0.0.1', listen_port: port, auth_type: 'any', pool_mode: 'transaction' }
    const more = {
      default_pool_size: 2,
      unix_socket_dir: '',
      ...(keepsStatements ? { max_prepared_statements: 0 } : {}),
    }
    const lines = Object.entries({ ...settings, ...more }).map(([name, value]) => `${name} = ${value}`)
    writeFileSync(ini, ['[databases]', `* = ${target}`, '[pgbouncer]', ...lines, ''].join('\n'))
    // It refuses to run as root.
    const asUser = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
    bouncer = spawn('pgbouncer', [ini], { stdio: 'ignore', ...asUser })
    address = `postgres://${direct.username}@127.0.0.1:${port}${direct.pathname}`
    await until('PgBouncer listens', () => accepts(port))
  })

  afterAll(async () => {
    if (bouncer?.exitCode === null) {
      const gone = new Promise((resolve) => bouncer.once('exit', resolve))
      bouncer.kill('SIGKILL')
      await gone
    }
    rmSync(folder, { recursive: true, force: true })
    await database.drop()
  })

  it('an address with prepare=false&listen=false takes a run all the way', async () => {
    const store = await openPostgres({ url: `${address}?prepare=false&listen=false` })
    try {
      for (let round = 0; round < 5; round += 1) {
        await Promise.all(Array.from({ length: 20 }, () => store.now()))
        await store.runs.enqueue([newRun()])
        const [run] = await claimed(store)
        await settled(store, run!, SUCCEEDED)
        expect((await store.history.run(run!.id))!.state).toBe('succeeded')
      }
    } finally {
      await store.close()
    }
  })

  it('an address without them fails with a code and the settings to add', async () => {
    const use = async (): Promise<never> => {
      const store = await openPostgres({ url: address, listen: false })
      try {
        for (;;) await Promise.all(Array.from({ length: 20 }, () => store.now()))
      } finally {
        await store.close()
      }
    }
    await expect(use()).rejects.toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringMatching(/pooler in transaction mode/),
      hint: expect.stringMatching(/prepare=false&listen=false/),
    })
  })
})

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    }).once('error', () => resolve(false))
  })
