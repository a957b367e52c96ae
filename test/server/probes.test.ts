/** What a process that only works answers to probes and scrapers, and what a server answers while its store is away. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, type Everytick, everytick } from '../../src/index.ts'
import { openPostgres } from '../../src/postgres.ts'
import type { ProbeOptions } from '../../src/server/probes.ts'
import { handler } from '../../src/server.ts'
import { openSqlite } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'

const mail = defineJob({ name: 'mail', run: () => {} })
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const ends: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const STORES = {
  SQLite: () => openSqlite({ path: ':memory:' }),
  async Postgres() {
    const database = await createReadyDatabase()
    ends.push(() => database.drop())
    return openPostgres({ url: database.url })
  },
}

/** A store that can be cut off: it fails, or never answers, until it is mended. */
interface Cut {
  readonly store: Store
  is: 'failing' | 'silent' | 'whole'
  /** What waited for an answer gets it now. */
  mend(): void
}

/** What the store answers by itself, without the database. */
const LOCAL = new Set<string | symbol>(['pool', 'close', 'hears'])

async function cuttable(name: keyof typeof STORES): Promise<Cut> {
  const real = await STORES[name]()
  ends.push(() => real.close())
  const through = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, key) {
        const value = Reflect.get(target, key)
        if (typeof value === 'object' && value !== null) return through(value)
        if (typeof value !== 'function' || LOCAL.has(key)) return value
        return (...args: unknown[]) => {
          if (cut.is === 'failing') return Promise.reject(new Error('connection refused'))
          if (cut.is === 'whole') return value.apply(target, args)
          return new Promise<void>((resolve) => waiting.push(resolve)).then(() => value.apply(target, args))
        }
      },
    })
  const waiting: (() => void)[] = []
  const cut: Cut = {
    store: through(real),
    is: 'whole',
    mend() {
      cut.is = 'whole'
      for (const goOn of waiting.splice(0)) goOn()
    },
  }
  return cut
}

async function started(store: Store): Promise<Everytick> {
  const app = everytick({ store, jobs: [mail], logger })
  ends.push(() => app.stop({ drain: '0s' }))
  await app.start()
  return app
}

const codeOf = async (answer: Response): Promise<string> => ((await answer.json()) as { code: string }).code

describe.each(Object.keys(STORES) as (keyof typeof STORES)[])('the probes of a worker on %s', (name) => {
  it('answer that it lives, that it is ready, and what it did', async () => {
    const { store } = await cuttable(name)
    const app = everytick({ store, jobs: [mail], logger })
    ends.push(() => app.stop())
    const { url } = await app.serveProbes({ port: 0 })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const early = await fetch(`${url}/readyz`)
    expect([early.status, await codeOf(early)]).toEqual([503, 'UNAVAILABLE'])
    await app.start({ role: 'worker' })
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    await app.runs.wait(await app.enqueue(mail))
    const scraped = await fetch(`${url}/metrics`)
    expect(scraped.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await scraped.text()
    for (const line of [
      'everytick_runs_total{job="mail",outcome="succeeded"} 1',
      'everytick_slots{queue="default"} 10',
      'everytick_slots_busy{queue="default"} 0',
      'everytick_store_up 1',
    ])
      expect(text).toContain(`\n${line}\n`)
    expect(text).toMatch(/^everytick_build_info\{version="[^"]+",node="v[^"]+"\} 1$/m)
    // Figures of the fleet are for servers: every worker would ask the store for the same.
    expect(text).not.toContain('everytick_workers_alive')
  })

  it('stay up while the store is away, with the figures of the process', async () => {
    const cut = await cuttable(name)
    const app = await started(cut.store)
    const { url } = await app.serveProbes({ port: 0 })
    await app.runs.wait(await app.enqueue(mail))
    cut.is = 'failing'
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await codeOf(ready)]).toEqual([503, 'UNAVAILABLE'])
    const text = await (await fetch(`${url}/metrics`)).text()
    expect(text).toContain('everytick_store_up 0\n')
    expect(text).toContain('everytick_runs_total{job="mail",outcome="succeeded"} 1\n')
    expect(text.includes('everytick_pool_connections{state="waiting"} 0\n')).toBe(name === 'Postgres')
    expect(text).not.toMatch(/^everytick_clock_skew_seconds /m)
    cut.mend()
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })
})

describe('the probes of a worker', () => {
  it('say that the store is not up while its file can be read and not written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everytick-locked-'))
    ends.push(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'a.db')
    const store = await openSqlite({ path, busyTimeoutMs: 20 })
    const app = await started(store)
    ends.push(() => store.close())
    const up = async (): Promise<string | undefined> => /^everytick_store_up (\d)$/m.exec(await app.metrics())?.[1]
    expect(await up()).toBe('1')
    const other = await openDatabase(path)
    ends.push(() => other.close())
    other.exec('begin immediate')
    await expect.poll(up, { timeout: 20_000, interval: 50 }).toBe('0')
    expect(await app.runs.list()).toEqual([])
    other.exec('rollback')
    await expect.poll(up, { timeout: 20_000, interval: 50 }).toBe('1')
  })

  it('answer nothing else, and end with the app', async () => {
    const app = await started(await STORES.SQLite())
    const { url, port } = await app.serveProbes({ port: 0 })
    for (const path of ['/', '/api/v1/schedules', '/metrics/x', '/constructor']) {
      const answer = await fetch(`${url}${path}`)
      expect([answer.status, await codeOf(answer)]).toEqual([404, 'NOT_FOUND'])
    }
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
    await app.stop()
    const refused = await new Promise<string>((resolve) => {
      connect(port, '127.0.0.1').once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''))
    })
    expect(refused).toBe('ECONNREFUSED')
  })

  it('can be answered by a route of one’s own, from the first run on', async () => {
    const app = await started(await STORES.SQLite())
    await app.runs.wait(await app.enqueue(mail))
    const [own, whole] = await Promise.all([app.metrics(), app.metrics({ fleet: true })])
    for (const text of [own, whole]) expect(text).toContain('everytick_runs_total{job="mail",outcome="succeeded"} 1\n')
    expect(own).not.toContain('everytick_workers_alive')
    expect(whole).toContain('everytick_workers_alive 1\n')
  })

  it.each([
    [{ port: 70_000 }, /port/],
    [{ host: '' }, /host/],
    [{ hosts: 'x' }, /hosts/],
  ])('refuse %o', async (options, message) => {
    const app = await started(await STORES.SQLite())
    await expect(app.serveProbes(options as ProbeOptions)).rejects.toThrow(message)
  })
})

describe.each(['failing', 'silent'] as const)('a server whose store is %s', (how) => {
  it('still answers probes, and shows its own figures to a key that was good before', async () => {
    const cut = await cuttable('SQLite')
    const app = await started(cut.store)
    const ask = handler(app)
    const get = (path: string, key?: string): Promise<Response> =>
      ask(new Request(`http://localhost${path}`, { headers: key ? { authorization: `Bearer ${key}` } : {} }))
    const key = await keyOf(app, 'scraper')
    const unused = await keyOf(app, 'unused')
    await app.runs.wait(await app.enqueue(mail))
    expect((await get('/metrics', key)).status).toBe(200)
    await expect.poll(async () => (await get('/api/v1/schedules', key)).status).toBe(200)
    ends.push(async () => cut.mend())
    cut.is = how
    const whole = await get('/metrics', key)
    expect(whole.status).toBe(200)
    expect(await whole.text()).toContain('everytick_runs_total{job="mail",outcome="succeeded"} 1\n')
    await expect
      .poll(async () => (await get('/metrics', key)).text(), { timeout: 20_000, interval: 500 })
      .toContain('everytick_store_up 0\n')
    // With a key and without: a probe asks the store nothing.
    for (const each of [key, undefined]) expect((await get('/healthz', each)).status).toBe(200)
    const ready = await get('/readyz', key)
    expect([ready.status, await codeOf(ready)]).toEqual([503, 'UNAVAILABLE'])
    expect((await get('/metrics')).status).toBe(401)
    // Never seen by this server, or wrong: it cannot be told whether it is good.
    for (const other of [unused, `${key.slice(0, -3)}abc`]) expect((await get('/metrics', other)).status).not.toBe(200)
  }, 60_000)
})

async function keyOf(app: Everytick, name: string): Promise<string> {
  const headers = { host: 'localhost', 'content-type': 'application/json' }
  const body = JSON.stringify({ name, scope: 'read' })
  const open = handler(app, { access: 'open', backgroundTasks: false })
  const answer = await open(new Request('http://localhost/api/v1/api-keys', { method: 'POST', headers, body }))
  return ((await answer.json()) as { token: string }).token
}
