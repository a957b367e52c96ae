/** What somebody who means harm, or a stranger who does not know better, has once got out of the server, and gets no more. */
import { createServer as createPlainServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, type Everytick, everytick } from '../../src/index.ts'
import { coreOf, keepCore } from '../../src/scheduler/core.ts'
import { createServer } from '../../src/server/app.ts'
import { createKeys } from '../../src/server/keys.ts'
import { readAuthResult, type ServerOptions } from '../../src/server/settings.ts'
import { serve } from '../../src/server.ts'
import { type Ask, askOf, JOBS, openStage, STORES, type Stage } from './stage.ts'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const openApp = (): Everytick => everytick({ store: 'sqlite::memory:', jobs: JOBS, logger: quiet })
const BACKLOG = Array.from({ length: 10 }, (_, i) => ({ cron: `*/${i + 1} * * * * *`, timezone: 'America/New_York' }))

describe.each(STORES)('a hostile caller on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const another = async (options: ServerOptions): Promise<Ask> =>
    askOf((await stage.another({ backgroundTasks: false, ...options })).server, stage.tokens)
  const newKey = (forMs: number | null = null) =>
    stage.server.parts.keys.create({ name: 'x', scope: 'read', workspace: null, by: 'test', forMs })

  it('finds no key in what is kept for repetitions', async () => {
    const asking = { body: { name: 'n', scope: 'admin' }, headers: { 'idempotency-key': 'make-a-key' } }
    const made = await stage.ask('POST', '/api-keys', asking)
    const again = await stage.ask('POST', '/api-keys', asking)
    const kept = await (await stage.server.parts.core.store()).documents.list('request', { limit: 200 })
    expect(made.body.token).toMatch(/^evt_ad_/)
    expect(JSON.stringify(kept)).not.toContain(made.body.token)
    expect([again.status, again.body.id, again.body.token]).toEqual([201, made.body.id, null])
  })

  it('does not make a key look used by guessing at it', async () => {
    const { key, token } = await newKey()
    const { keys } = stage.server.parts
    expect(await keys.check(`${token.slice(0, -4)}${token.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`)).toBeNull()
    // Whatever was to be written about the guess is written before what is asked for after it.
    await keys.revoke(key.id)
    expect((await keys.get(key.id))?.lastUsedAt).toBeNull()
  })

  it('is held to the end of a key by the clock of the store, not by that of a node', async () => {
    const { token } = await newKey(60_000)
    const { core } = stage.server.parts
    const ahead = { now: () => core.clock.now() + 3_600_000, elapsed: () => core.clock.elapsed() }
    expect(await createKeys({ ...core, clock: ahead }).check(token)).not.toBeNull()
  })

  it('gets no key of all workspaces by naming none', async () => {
    const nameless = { name: 'x', scope: 'admin', workspace: '', by: 'cli', forMs: null } as const
    await expect(stage.server.parts.keys.create(nameless)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })

  it('cannot lock out everybody where addresses are not known', async () => {
    const ask = await another({})
    for (let i = 0; i < 12; i++) expect((await ask('GET', '/session', { as: 'evt_ad_wrong' })).status).toBe(401)
    expect((await ask('GET', '/session')).status).toBe(200)
    for (let i = 0; i < 12; i++) await ask('POST', '/session', { as: null, body: { key: 'evt_ad_wrong' } })
    expect((await ask('POST', '/session', { as: null, body: { key: stage.tokens.read } })).status).toBe(200)
  })

  it('is not listened to for long before it has said who it is', async () => {
    const asking = { as: null, body: { key: 'x'.repeat(5000) } }
    expect((await stage.ask('POST', '/session', asking)).body.code).toBe('BODY_TOO_LARGE')
  })

  it('cannot make a process look dead by asking a lot', async () => {
    const ask = await another({ rate: { burst: 2, perSecond: 1 } })
    for (let i = 0; i < 5; i++) await ask('GET', '/schedules', { as: null })
    expect((await ask('GET', '/schedules', { as: null })).status).toBe(429)
    expect((await ask('GET', '/healthz', { as: null })).status).toBe(200)
  })

  it.each(['x', '', '1', '018f0000-0000-7000-8000-00000000000'])(
    'gets no fault out of a cursor with id "%s"',
    async (id) => {
      const cursor = Buffer.from(JSON.stringify({ id })).toString('base64url')
      for (const path of ['/runs', '/api-keys', '/operations'])
        expect((await stage.ask('GET', `${path}?cursor=${cursor}`)).body.code, path).toBe('CURSOR_INVALID')
    },
  )

  it('gets no fault out of text that no store holds', async () => {
    for (const description of ['a\u0000b', 'a\ud800b']) {
      const body = { key: 'nul', every: '1h', job: 'plain', description }
      expect((await stage.ask('POST', '/schedules', { body })).status).toBe(422)
    }
    const lines = { key: 'lines', every: '1h', job: 'plain', description: 'one\n\ttwo' }
    expect((await stage.ask('POST', '/schedules', { body: lines })).status).toBe(201)
  })

  it('is refused a parameter that objects have by birth, like any other that is unknown', async () => {
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect((await stage.ask('GET', `/schedules?${name}=1`)).status, name).toBe(422)
  })

  it('overwrites nothing that was changed since it was read', async () => {
    const { body } = await stage.ask('POST', '/schedules', { body: { key: 'match', every: '1h', job: 'plain' } })
    await stage.ask('PATCH', `/schedules/${body.id}`, { body: { every: '2h' } })
    const headers = { 'if-match': '"1"' }
    const put = { every: '3h', job: 'plain' }
    const answers = [
      await stage.ask('PUT', '/schedules/by-key/default/match', { headers, body: put }),
      await stage.ask('POST', `/schedules/${body.id}/pause`, { headers }),
      await stage.ask('POST', `/schedules/${body.id}/resume`, { headers }),
      await stage.ask('DELETE', `/schedules/${body.id}`, { headers }),
      await stage.ask('PUT', '/schedules/by-key/default/match-nothing', { headers, body: put }),
    ]
    for (const answer of answers) expect([answer.status, answer.body.code]).toEqual([412, 'PRECONDITION_FAILED'])
    const now = await stage.ask('GET', `/schedules/${body.id}`)
    expect([now.body.revision, now.body.every, now.body.paused]).toEqual([2, '2h', null])
    expect((await stage.ask('GET', '/schedules/by-key/default/match-nothing')).status).toBe(404)
    const fresh = { 'if-match': now.headers.get('etag')! }
    expect((await stage.ask('PUT', '/schedules/by-key/default/match', { headers: fresh, body: put })).status).toBe(200)
  })

  it('wins a race with If-Match once, however many send it at the same moment', async () => {
    const { body } = await stage.ask('POST', '/schedules', { body: { key: 'raced', every: '1h', job: 'plain' } })
    const headers = { 'if-match': '"1"' }
    const puts = Array.from({ length: 6 }, (_, i) =>
      stage.ask('PUT', '/schedules/by-key/default/raced', { headers, body: { every: `${i + 2}h`, job: 'plain' } }),
    )
    const statuses = (await Promise.all(puts)).map(({ status }) => status).toSorted()
    expect(statuses).toEqual([200, 412, 412, 412, 412, 412])
    expect((await stage.ask('GET', `/schedules/${body.id}`)).body.revision).toBe(2)
  })

  it('does not hold up a process with rules that are many and dense', async () => {
    const { status, body } = await stage.ask('POST', '/explain', { as: 'read', body: { any: BACKLOG } })
    // Of every second in fact; counted from a part of the year.
    expect([status, Math.round(body.firesPerYear / 86_400 / 3.65)]).toEqual([200, 100])
    const made = await stage.ask('POST', '/schedules', { body: { key: 'crowd', any: BACKLOG, job: 'plain' } })
    const span = { from: '1971-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z', dryRun: true }
    const backfill = await stage.ask('POST', `/schedules/${made.body.id}/backfills`, { body: span })
    expect([backfill.status, backfill.body.code]).toEqual([422, 'OPTION_INVALID'])
  }, 10_000)

  it('gets one key out of rolling one, however often at once', async () => {
    const { body } = await stage.ask('POST', '/api-keys', { body: { name: 'rolled-at-once', scope: 'admin' } })
    const rolls = Array.from({ length: 5 }, () => stage.ask('POST', `/api-keys/${body.id}/roll`, { body: {} }))
    expect((await Promise.all(rolls)).map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    const { data } = (await stage.ask('GET', '/api-keys?limit=200')).body
    type Listed = { readonly name: string; readonly revokedAt: string | null }
    const left = (data as Listed[]).filter(({ name, revokedAt }) => name === 'rolled-at-once' && revokedAt === null)
    expect(left).toHaveLength(1)
  })

  it('finds one entry in the audit log for what was done once, however many tried', async () => {
    const made = await stage.ask('POST', '/schedules', { body: { key: 'once', every: '1h', job: 'plain' } })
    const key = await stage.ask('POST', '/api-keys', { body: { name: 'once', scope: 'read' } })
    const tries = (path: string) => Array.from({ length: 4 }, () => stage.ask('DELETE', path))
    const removed = await Promise.all(tries(`/schedules/${made.body.id}`))
    const revoked = await Promise.all(tries(`/api-keys/${key.body.id}`))
    expect(removed.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404])
    expect(revoked.map(({ status }) => status)).toEqual([204, 204, 204, 204])
    const entries = (await stage.ask('GET', '/audit?limit=200')).body.data as { action: string; target: string }[]
    for (const [action, target] of [
      ['schedule.remove', 'schedule default/once'],
      ['key.revoke', 'key once'],
    ])
      expect(entries.filter((each) => each.action === action && each.target === target)).toHaveLength(1)
  })

  it('does not see what is secret by giving the payload to another job', async () => {
    const loose = defineJob({ name: 'loose', payload: z.any(), run: () => {} })
    const address = stage.server.parts.core.settings.store
    await using app = everytick({ store: address, jobs: [...JOBS, loose], logger: quiet })
    const ask = askOf(createServer(app, { backgroundTasks: false }), stage.tokens)
    const payload = { account: 'a', secret: 'marker-secret' }
    const { body } = await ask('POST', '/schedules', { body: { key: 'moved', every: '1h', job: 'typed', payload } })
    const moved = await ask('PATCH', `/schedules/${body.id}`, { as: 'operate', body: { job: 'loose' } })
    expect([moved.status, JSON.stringify(moved.body).includes('marker-secret')]).toEqual([422, false])
    const given = { job: 'loose', payload: { account: 'b' } }
    expect((await ask('PATCH', `/schedules/${body.id}`, { as: 'operate', body: given })).status).toBe(200)
  })

  it('gets no second first key out of a second link', async () => {
    const invite = await stage.server.parts.sessions.invite()
    const asked = new Request('http://localhost/setup', { method: 'POST', body: `invite=${invite}` })
    expect((await stage.server.fetch(asked)).status).toBe(403)
  })
})

describe('whoever a host vouches for', () => {
  it.each([42, '', null, {}, ['a']])('is not let into all workspaces by one that is %j', (workspace) => {
    expect(() => readAuthResult({ scope: 'operate', workspace })).toThrow(/workspace/)
  })

  it('never meets the answers or the allowance of another workspace under the same name', async () => {
    await using app = openApp()
    const mounted = app.handler({
      backgroundTasks: false,
      rate: { burst: 2, perSecond: 1 },
      authorize: ({ headers }) => ({ scope: 'operate', workspace: headers.get('x-workspace')! }),
    })
    const make = async (workspace: string) => {
      const headers = { 'x-workspace': workspace, 'content-type': 'application/json', 'idempotency-key': '1' }
      const body = JSON.stringify({ key: 'k', every: '1h', job: 'plain' })
      const answer = await mounted(
        new Request('http://app.example/api/v1/schedules', { method: 'POST', headers, body }),
      )
      return [answer.status, ((await answer.json()) as { workspace?: string }).workspace]
    }
    expect([await make('a'), await make('a'), await make('b')]).toEqual([
      [201, 'a'],
      [201, 'a'],
      [201, 'b'],
    ])
    expect((await make('a'))[0]).toBe(429)
  })
})

describe('a handler', () => {
  const asked = (path: string) => new Request(`http://localhost/api/v1${path}`)

  it('begins nothing while its app is stopped', async () => {
    await using app = openApp()
    const core = coreOf(app)
    let timers = 0
    const set: typeof core.timers.set = (ms, callback) => {
      timers++
      return core.timers.set(ms, callback)
    }
    keepCore(app, { ...core, timers: { ...core.timers, set } })
    const mounted = app.handler({ access: 'open' })
    await app.stop()
    expect((await mounted(asked('/schedules'))).status).toBe(503)
    expect(timers).toBe(0)
  })

  it('runs its background tasks again when its app was started again', async () => {
    await using stage = await openStage('sqlite')
    await using app = everytick({ store: stage.server.parts.core.settings.store, jobs: JOBS, logger: quiet })
    const mounted = app.handler({ access: 'open' })
    const holds = async (): Promise<boolean> => (await stage.app.locks.list()).some(({ name }) => /rolling/.test(name))
    for (let i = 0; i < 2; i++) {
      await app.start()
      expect((await mounted(asked('/schedules'))).status).toBe(200)
      await expect.poll(holds, { interval: 20 }).toBe(true)
      await app.stop()
      await expect.poll(holds, { interval: 20, timeout: 15_000 }).toBe(false)
    }
  })
})

describe('a server that listens', () => {
  it('leaves nothing behind when its port is taken', async () => {
    await using app = openApp()
    const blocker = createPlainServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    const { port } = blocker.address() as AddressInfo
    const core = coreOf(app)
    let heard = 0
    const onStop = (stopped: () => void): (() => void) => {
      const forget = core.onStop(stopped)
      heard++
      return () => {
        heard--
        forget()
      }
    }
    keepCore(app, { ...core, onStop })
    await expect(serve(app, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(heard).toBe(0)
    blocker.close()
  })

  it('ends though somebody never ends what they began to send', async () => {
    await using app = openApp()
    const { port, close } = await serve(app, { port: 0, access: 'open', backgroundTasks: false })
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const head =
      'POST /api/v1/schedules HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{'
    await new Promise<void>((resolve) => socket.write(head, () => resolve()))
    // Answered on another connection: the first one has arrived by then.
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
    await close()
    socket.destroy()
  }, 20_000)

  it('reads no more of a form than a form has, and makes those who try links wait', async () => {
    await using stage = await openStage('sqlite', { rate: { burst: 3, perSecond: 1 } })
    let sent = 0
    const body = new ReadableStream({
      pull(controller) {
        sent += 1000
        if (sent > 1_000_000) controller.close()
        else controller.enqueue(new Uint8Array(1000))
      },
    })
    const large = new Request('http://localhost/setup', { method: 'POST', body, duplex: 'half' } as RequestInit)
    expect((await stage.server.fetch(large)).status).toBe(413)
    expect(sent).toBeLessThan(10_000)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) {
      const form = new Request('http://localhost/setup', { method: 'POST', body: 'invite=guess' })
      statuses.push((await stage.server.fetch(form)).status)
    }
    expect(statuses).toEqual([403, 403, 429, 429])
  })
})
