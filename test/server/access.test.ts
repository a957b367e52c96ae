/** Who may ask, and what is refused before anything is done: keys, sessions, sites, sizes and shapes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everytick } from '../../src/index.ts'
import { handler, serve } from '../../src/server.ts'
import { askOf, JOBS, openStage, STORES, type Stage } from './stage.ts'

describe.each(STORES)('access on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const schedules = async (): Promise<number> => (await stage.ask('GET', '/schedules?limit=200')).body.data.length
  const NEW = { key: 'x', every: '1h', job: 'plain' }

  it('answers nobody without a key, and says how to come by one', async () => {
    const { status, body, headers } = await stage.ask('GET', '/schedules', { as: null })
    expect([status, body.code, headers.get('www-authenticate')]).toEqual([401, 'UNAUTHENTICATED', 'Bearer'])
    expect(body.hint).toContain('everytick keys create')
  })

  it('refuses a mistyped key, a key of another shape and an unknown one alike', async () => {
    const good = stage.tokens.admin!
    const bad = [`${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`, 'evt_ad_short', `evt_ad_${'x'.repeat(65)}`]
    for (const as of bad) expect((await stage.ask('GET', '/schedules', { as })).body.code).toBe('UNAUTHENTICATED')
  })

  it('makes whoever guesses keys wait, and nobody else', async () => {
    const { server } = await stage.another({ backgroundTasks: false })
    const from = (address: string, token: string) =>
      server.fetch(
        new Request('http://localhost/api/v1/schedules', { headers: { authorization: `Bearer ${token}` } }),
        { incoming: { socket: { remoteAddress: address } } },
      )
    for (let i = 0; i < 10; i++) expect((await from('192.0.2.1', 'evt_ad_wrong')).status).toBe(401)
    const waiting = await from('192.0.2.1', 'evt_ad_wrong')
    expect(waiting.status).toBe(429)
    expect(Number(waiting.headers.get('retry-after'))).toBeGreaterThan(0)
    for (const address of ['192.0.2.1', '192.0.2.2'])
      expect((await from(address, stage.tokens.admin!)).status).toBe(200)
  })

  it('limits the requests of one caller, and says when to come again', async () => {
    const { server } = await stage.another({ backgroundTasks: false, rate: { burst: 3, perSecond: 1 } })
    const ask = askOf(server, stage.tokens)
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await ask('GET', '/session', { as: 'read' })).status)
    expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 429])
    expect((await ask('GET', '/session', { as: 'operate' })).status).toBe(200)
  })

  it('refuses a revoked key on every node within a second', async () => {
    const { token, key } = await stage.server.parts.keys.create({
      name: 'gone',
      scope: 'read',
      workspace: null,
      by: 'test',
      forMs: null,
    })
    const { server } = await stage.another({ backgroundTasks: false })
    const ask = askOf(server, {})
    expect((await ask('GET', '/schedules', { as: token })).status).toBe(200)
    const revoked = await stage.ask('DELETE', `/api-keys/${key.id}`)
    expect(revoked.status).toBe(204)
    expect((await stage.ask('GET', '/schedules', { as: token })).status).toBe(401)
    const started = performance.now()
    await expect.poll(async () => (await ask('GET', '/schedules', { as: token })).status, { interval: 20 }).toBe(401)
    expect(performance.now() - started).toBeLessThan(1000)
  })

  it('refuses an expired key', async () => {
    const { token } = await stage.server.parts.keys.create({
      name: 'old',
      scope: 'read',
      workspace: null,
      by: 'test',
      forMs: 1,
    })
    await expect
      .poll(async () => (await stage.ask('GET', '/schedules', { as: token })).status, { interval: 5 })
      .toBe(401)
  })

  it('keeps of a key only its hash, and shows the key itself once', async () => {
    const made = await stage.ask('POST', '/api-keys', {
      body: { name: 'shown', scope: 'operate', workspace: 'a', expiresIn: '1d' },
    })
    expect(made.status).toBe(201)
    const stored = JSON.stringify(await (await stage.server.parts.core.store()).documents.get('key', made.body.id))
    expect(stored).not.toContain(made.body.token)
    const listed = JSON.stringify((await stage.ask('GET', '/api-keys?limit=200')).body)
    expect(listed).toContain(made.body.prefix)
    expect(listed).not.toContain(made.body.token.slice(20))
    const audit = JSON.stringify((await stage.ask('GET', '/audit')).body)
    expect(audit).not.toContain(made.body.token.slice(20))
  })

  it('rolls a key: the new one works, the old one does not', async () => {
    const made = await stage.ask('POST', '/api-keys', { body: { name: 'rolled', scope: 'read' } })
    const rolled = await stage.ask('POST', `/api-keys/${made.body.id}/roll`, { body: {} })
    expect((await stage.ask('GET', '/session', { as: rolled.body.token })).body.name).toBe('rolled')
    expect((await stage.ask('GET', '/session', { as: made.body.token })).status).toBe(401)
  })

  it('signs a browser in by cookie, and takes changes by it only from its own pages', async () => {
    const signed = await stage.ask('POST', '/session', { body: { key: stage.tokens.operate }, as: null })
    const cookie = signed.headers.get('set-cookie')!
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/)
    const by = { cookie: cookie.split(';')[0]! }
    expect((await stage.ask('GET', '/schedules', { as: null, headers: by })).status).toBe(200)
    const before = await schedules()
    const refusals = [
      by,
      { ...by, 'x-everytick': '1', origin: 'https://evil.example' },
      { ...by, 'x-everytick': '1', 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of refusals) {
      const { status, body } = await stage.ask('POST', '/schedules', { as: null, headers, body: NEW })
      expect([status, body.code]).toEqual([403, 'CROSS_SITE'])
    }
    expect(await schedules()).toBe(before)
    const own = { ...by, 'x-everytick': '1', origin: 'http://localhost' }
    expect(
      (await stage.ask('POST', '/schedules', { as: null, headers: own, body: { ...NEW, key: 'by-cookie' } })).status,
    ).toBe(201)
    await stage.ask('DELETE', '/session', { as: null, headers: own })
    expect((await stage.ask('GET', '/schedules', { as: null, headers: by })).status).toBe(401)
  })

  it('refuses bodies that are too large, too deep, no JSON or of another type, and changes nothing', async () => {
    const before = await schedules()
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`
    const cases: [body: string, headers: Record<string, string>, code: string][] = [
      [JSON.stringify({ ...NEW, description: 'x'.repeat(1_100_000) }), {}, 'BODY_TOO_LARGE'],
      [`{"key":"x","every":"1h","job":"plain","payload":${deep}}`, {}, 'BODY_INVALID'],
      ['{"key":', {}, 'BODY_INVALID'],
      ['{"__proto__":{"admin":true}}', {}, 'BODY_INVALID'],
      [JSON.stringify(NEW), { 'content-type': 'text/plain' }, 'MEDIA_TYPE'],
      [JSON.stringify(NEW), { 'content-type': 'application/x-www-form-urlencoded' }, 'MEDIA_TYPE'],
    ]
    for (const [body, headers, code] of cases)
      expect((await stage.ask('POST', '/schedules', { body, headers })).body.code).toBe(code)
    expect(await schedules()).toBe(before)
  })

  it('answers every request with its id, and nothing that a browser could misread', async () => {
    const { headers } = await stage.ask('GET', '/schedules', { headers: { 'x-request-id': 'mine-1' } })
    expect(headers.get('x-request-id')).toBe('mine-1')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect((await stage.ask('GET', '/nowhere', { headers: { 'x-request-id': 'a\tb' } })).body.requestId).toMatch(
      /^req_/,
    )
  })

  it('shows payloads to operators without what is secret, and to readers not at all', async () => {
    const payload = { account: 'acc-1', secret: 'marker-secret' }
    const made = await stage.ask('POST', '/schedules', { body: { key: 'secret', every: '1h', job: 'typed', payload } })
    expect(made.body.payload).toEqual({ account: 'acc-1', secret: '[redacted]' })
    const { body } = await stage.ask('GET', `/schedules/${made.body.id}`, { as: 'read' })
    expect(body).not.toHaveProperty('payload')
    await stage.ask('PATCH', `/schedules/${made.body.id}`, { body: { payload: { ...payload, amount: 2 } } })
    const places = [`/schedules/${made.body.id}/revisions`, '/audit', '/schedules', `/schedules/${made.body.id}`]
    for (const path of places)
      expect(JSON.stringify((await stage.ask('GET', path)).body)).not.toContain('marker-secret')
  })
})

describe('a server', () => {
  it('is open only to this machine, and only when it is told to', async () => {
    await using app = everytick({ store: 'sqlite::memory:', jobs: JOBS })
    await expect(serve(app, { access: 'open', host: '0.0.0.0', port: 0 })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    })
    const { url, close } = await serve(app, { access: 'open', port: 0 })
    expect((await fetch(`${url}/api/v1/schedules`)).status).toBe(200)
    const foreign = await fetch(`${url}/api/v1/schedules`, {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
    })
    expect(foreign.status).toBe(403)
    await close()
  })

  it('takes the word of its host for who asks, and for nothing more', async () => {
    await using app = everytick({ store: 'sqlite::memory:', jobs: JOBS })
    const mounted = app.handler({
      basePath: '/jobs',
      authorize: (request) =>
        request.headers.get('x-user') === 'ana' ? { scope: 'read', name: 'ana', workspace: 'a' } : 'none',
    })
    const ask = (path: string, user: string, method = 'GET') =>
      mounted(new Request(`http://app.example${path}`, { method, headers: { 'x-user': user } }))
    expect((await ask('/jobs/api/v1/session', 'bob')).status).toBe(401)
    expect(await (await ask('/jobs/api/v1/session', 'ana')).json()).toEqual({
      name: 'ana',
      scope: 'read',
      workspace: 'a',
    })
    expect((await ask('/jobs/api/v1/schedules', 'ana', 'POST')).status).toBe(403)
    expect((await ask('/api/v1/schedules', 'ana')).status).toBe(404)
  })

  it('refuses options that it does not know', async () => {
    await using app = everytick({ store: 'sqlite::memory:', jobs: JOBS })
    expect(() => handler(app, { acess: 'open' } as never)).toThrow(/acess/)
    expect(() => app.handler({ basePath: 'jobs/' })).toThrow(/basePath/)
  })
})
