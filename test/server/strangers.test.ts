/** What callers without a key learn and cost: nothing of the database in a fault, no read for a wrong key once guesses are spent, and probes that work for all. */

import type { AddressInfo } from 'node:net'
import { createServer as createListener } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { EverytickError } from '../../src/errors.ts'
import { everytick } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { createServer, type Server } from '../../src/server/app.ts'
import { handler } from '../../src/server.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { askOf, JOBS, openStage, STORES, type Stage } from './stage.ts'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const INSIDE = 'cannot reach postgres://qzx-user@qzx-host:5432/qzx-database'
const TOLD = /qzx|127\.0\.0\.1|STORE_|SCHEMA_|ECONN/

/** The requests of a stranger that reach the store on some way. */
type Sent = readonly [method: string, path: string, headers?: Record<string, string>, body?: string]
const ASKED: readonly Sent[] = [
  ['GET', '/readyz'],
  ['GET', '/api/v1/readyz'],
  ['GET', '/metrics'],
  ['GET', '/'],
  ['GET', '/', { accept: 'text/html' }],
  ['GET', '/api/docs', { authorization: `Bearer evt_ad_${'x'.repeat(65)}` }],
  ['GET', '/api/v1/schedules', { authorization: `Bearer evt_ad_${'x'.repeat(65)}` }],
  ['GET', '/api/v1/schedules', { cookie: 'everytick_session=x' }],
  ['POST', '/api/v1/session', { 'content-type': 'application/json' }, `{"key":"evt_ad_${'x'.repeat(65)}"}`],
  ['DELETE', '/api/v1/session', { cookie: 'everytick_session=x' }],
  ['POST', '/setup', {}, 'invite=x'],
  ['POST', '/sign-in', {}, `key=evt_ad_${'x'.repeat(65)}`],
]
const request = ([method, path, headers = {}, body]: Sent): Request =>
  new Request(`http://app.example${path}`, {
    method,
    headers: { ...(path === '/sign-in' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}), ...headers },
    ...(body === undefined ? {} : { body }),
  })

describe.each([
  ['postgres', 'postgres://qzx-user:qzx-secret@127.0.0.1:1/qzx-database'],
  ['sqlite', 'sqlite:/dev/null/qzx/qzx.db'],
])('while the %s store cannot be reached', (_, store) => {
  const app = everytick({ store, jobs: JOBS, logger: quiet })
  afterAll(() => app.stop())
  const doors: readonly (readonly [string, (request: Request) => Promise<Response>])[] = [
    ['a server', createServer(app, { backgroundTasks: false, publicMetrics: true }).fetch],
    ['a mounted handler', handler(app, { backgroundTasks: false })],
  ]
  describe.each(doors)('%s', (_, fetch) => {
    it.each(ASKED.map((asked, i) => [`${i}: ${asked[0]} ${asked[1]}`, asked] as const))(
      'says nothing of it to a stranger at %s',
      async (_, asked) => {
        const answer = await fetch(request(asked))
        const text = await answer.text()
        expect(text).not.toMatch(TOLD)
        expect([...answer.headers].join()).not.toMatch(TOLD)
        if (answer.status >= 500) expect(JSON.parse(text).code).toBe('UNAVAILABLE')
      },
    )
  })
})

it('a mounted handler answers that it lives while its store never answers', async () => {
  const silent = createListener(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const app = everytick({ store: `postgres://u:p@127.0.0.1:${port}/db`, jobs: JOBS, logger: quiet })
  const startedAt = performance.now()
  const answer = await handler(app, { backgroundTasks: false })(new Request('http://app.example/healthz'))
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
  expect(performance.now() - startedAt).toBeLessThan(1000)
  silent.close()
})

describe.each(STORES)('on %s', (name) => {
  let stage: Stage
  let server: Server
  let isAway = false
  /** The real store, which can be cut off. */
  const cuttable = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, key) {
        const value = Reflect.get(target, key)
        if (typeof value === 'object' && value !== null) return cuttable(value)
        if (typeof value !== 'function' || key === 'close' || key === 'pool') return value
        return (...args: unknown[]) =>
          isAway ? Promise.reject(new EverytickError('STORE_UNREACHABLE', INSIDE)) : value.apply(target, args)
      },
    })
  let store: Store
  beforeAll(async () => {
    stage = await openStage(name)
    store = await stage.server.parts.core.store()
    const app = everytick({ store: cuttable(store), jobs: JOBS, logger: quiet })
    server = createServer(app, { backgroundTasks: false })
    expect(coreOf(app).isStopped()).toBe(false)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  it('a fault names the database to keys of all workspaces, and to no others', async () => {
    const ask = askOf(server, stage.tokens)
    for (const as of ['read', 'a-admin']) expect((await ask('GET', '/runs', { as })).status).toBe(200)
    isAway = true
    try {
      const seen = await ask('GET', '/runs', { as: 'read' })
      expect([seen.status, seen.body.code, seen.body.detail]).toEqual([503, 'STORE_UNREACHABLE', INSIDE])
      for (const as of ['a-admin', 'b-read', null]) {
        const { status, body } = await ask('GET', '/runs', { as })
        expect(JSON.stringify(body)).not.toContain('qzx')
        expect([status, body.code]).toEqual(as === null ? [401, 'UNAUTHENTICATED'] : [503, 'UNAVAILABLE'])
      }
    } finally {
      isAway = false
    }
  })

  const from = (address: string, headers: Record<string, string>, to = server) =>
    to.fetch(new Request('http://localhost/api/v1/schedules', { headers: { host: 'localhost', ...headers } }), {
      incoming: { socket: { remoteAddress: address } },
    })
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const wrongKey = (i: number) => `evt_ad_${String(i).padStart(65, 'x')}`
  const newKey = async () =>
    (await stage.server.parts.keys.create({ name: 'k', scope: 'read', workspace: null, by: 'test', forMs: null })).token

  it('an address that has used up its guesses costs the database at most one list of keys in two seconds', async () => {
    const { server: own } = await stage.another({ backgroundTasks: false })
    const { documents } = await own.parts.core.store()
    const reads = [vi.spyOn(documents, 'get'), vi.spyOn(documents, 'list')] as const
    for (let i = 0; i < 10; i++) expect((await from('192.0.2.1', bearer(wrongKey(i)), own)).status).toBe(401)
    for (const read of reads) read.mockClear()
    const startedAt = performance.now()
    for (let i = 10; i < 110; i++) expect((await from('192.0.2.1', bearer(wrongKey(i)), own)).status).toBe(429)
    const seconds = (performance.now() - startedAt) / 1000
    expect(reads[0]).not.toHaveBeenCalled()
    expect(reads[1].mock.calls.length).toBeLessThanOrEqual(1 + Math.floor(seconds / 2))
    for (const read of reads) read.mockRestore()
    // Behind the same proxy: a key that this server has not seen before, and one that was made a moment ago.
    expect((await from('192.0.2.1', bearer(stage.tokens.admin!), own)).status).toBe(200)
    const made = await newKey()
    await expect
      .poll(async () => (await from('192.0.2.1', bearer(made), own)).status, { timeout: 4000, interval: 100 })
      .toBe(200)
  })

  it('guesses push no key out of memory, and where addresses are not known they cost no reads either', async () => {
    const { server: own } = await stage.another({ backgroundTasks: false })
    const { documents } = await own.parts.core.store()
    for (let i = 0; i < 12; i++) expect((await from('', bearer(wrongKey(i)), own)).status).toBe(401)
    const get = vi.spyOn(documents, 'get')
    for (let i = 12; i < 40; i++) expect((await from('', bearer(wrongKey(i)), own)).status).toBe(401)
    expect(get).not.toHaveBeenCalled()
    get.mockRestore()
    expect((await from('', bearer(stage.tokens.read!), own)).status).toBe(200)
  })

  it('made-up sessions are answered from memory once an address has sent many, and a session in force goes on', async () => {
    const { server: own } = await stage.another({ backgroundTasks: false })
    const { keys, sessions, core } = own.parts
    const secret = await sessions.begin((await keys.check(stage.tokens.read!))!)
    const cookie = (text: string) => ({ cookie: `everytick_session=${text}` })
    const statuses = new Set<number>()
    for (let i = 0; i < 130; i++) statuses.add((await from('192.0.2.7', cookie(`made-up-${i}`), own)).status)
    expect(statuses).toEqual(new Set([401, 429]))
    const get = vi.spyOn((await core.store()).documents, 'get')
    const refused: number[] = []
    for (let i = 0; i < 20; i++) refused.push((await from('192.0.2.7', cookie(`more-${i}`), own)).status)
    // The allowance is two a second.
    expect(get.mock.calls.length).toBeLessThan(10)
    expect(refused.filter((status) => status === 429).length).toBeGreaterThan(10)
    get.mockRestore()
    expect((await from('192.0.2.7', cookie(secret), own)).status).toBe(200)
  })

  it('probes are answered to all while a crowd of strangers is held back, and cost two reads a second', async () => {
    const { server: own } = await stage.another({ backgroundTasks: false, rate: { burst: 2, perSecond: 1 } })
    const ask = askOf(own, stage.tokens)
    for (let i = 0; i < 4; i++) await ask('GET', '/schedules', { as: null })
    expect((await ask('GET', '/schedules', { as: null })).status).toBe(429)
    const now = vi.spyOn(await own.parts.core.store(), 'now')
    const startedAt = performance.now()
    for (let i = 0; i < 200; i++)
      expect((await ask('GET', i % 2 ? '/readyz' : '/healthz', { as: null })).status).toBe(200)
    const seconds = (performance.now() - startedAt) / 1000
    expect(now.mock.calls.length).toBeLessThanOrEqual(2 + 2 * seconds)
    now.mockRestore()
    // Strangers take nothing from callers with a key.
    expect((await ask('GET', '/session', { as: 'read' })).status).toBe(200)
  })
})
