/** Events over real connections: nobody misses anything, whatever happens to nodes and connections in between. */
import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { type Listening, serve } from '../../src/server.ts'
import { type Child, startChild } from './child.ts'
import { type Following, follow } from './follow.ts'
import { JOBS, openStage, STORES, type Stage } from './stage.ts'

const PATIENT = { timeout: 8000, interval: 25 }
const [plain] = JOBS
const RATE = { burst: 1_000_000, perSecond: 1_000_000 }

describe.each(STORES)('events on %s', (store) => {
  let stage: Stage
  let nodes: Listening[]
  let child: Promise<Child>
  let following: Following[] = []
  beforeAll(async () => {
    stage = await openStage(store, {}, { quotas: { workspaces: { crowd: { streams: 'off' } } } })
    child = startChild({ store: coreOf(stage.app).settings.store as string, works: false, backgroundTasks: false })
    nodes = []
    for (const app of [stage.app, (await stage.another({ backgroundTasks: false })).app])
      nodes.push(await serve(app, { port: 0, backgroundTasks: false, rate: RATE }))
    const worker = await stage.another({ backgroundTasks: false })
    await worker.app.start({ role: 'worker' })
  })
  afterEach(() => {
    for (const each of following) each.cut()
    following = []
  })
  afterAll(async () => {
    await (await child).kill()
    await stage[Symbol.asyncDispose]()
  })

  const token = (name: string): string => stage.tokens[name]!
  const listen = (to: string, options: { as?: string; path?: string; lastEventId?: string | null } = {}): Following => {
    const { as = 'admin', ...rest } = options
    const one = follow(to, { token: token(as), ...rest })
    following.push(one)
    return one
  }
  /** When it hears what happens from here on. */
  const heeds = (one: Following) => expect.poll(() => one.lastEventId, PATIENT).not.toBeNull()
  const enqueue = async (count: number, workspace = 'default'): Promise<string[]> => {
    const items = Array.from({ length: count }, () => ({ workspace }))
    return (await stage.app.enqueueMany(plain as never, items as never)).map(({ id }) => id)
  }
  const ends = (events: readonly { type: string; data: { run?: string } }[]): (string | undefined)[] =>
    events.filter(({ type }) => type === 'run.succeeded').map(({ data }) => data.run)

  it('reach one who is cut off at random moments and goes on at another node, without loss', async () => {
    const heard = new Set<string | undefined>()
    const wanted: string[] = []
    let lastEventId: string | null = null
    let cuts = 0
    let done = false
    const wander = async (): Promise<void> => {
      while (!done) {
        const one = listen(nodes[cuts % 2]!.url, { lastEventId })
        const moment = Math.random() * 500
        await new Promise((resolve) => setTimeout(resolve, moment))
        one.cut()
        for (const run of ends(one.events)) heard.add(run)
        lastEventId = one.lastEventId
        cuts++
      }
    }
    const first = listen(nodes[0]!.url)
    await heeds(first)
    lastEventId = first.lastEventId
    first.cut()
    const wandering = wander()
    for (let batch = 0; batch < 10; batch++) {
      wanted.push(...(await enqueue(30)))
      await expect.poll(async () => (await stage.app.runs.get(wanted.at(-1)!))?.state, PATIENT).toBe('succeeded')
    }
    const ended = await stage.app.runs.list({ state: 'succeeded', limit: 300 })
    expect(ended.map(({ id }) => id).toSorted()).toEqual(wanted.toSorted())
    await expect.poll(() => wanted.filter((id) => !heard.has(id)), PATIENT).toEqual([])
    done = true
    await wandering
    expect(cuts).toBeGreaterThan(2)
  })

  it('go on at another node when the one that told them is killed', async () => {
    const doomed = await child
    const before = listen(doomed.url)
    await heeds(before)
    const wanted = await enqueue(50)
    await expect.poll(() => ends(before.events).length, PATIENT).toBeGreaterThan(0)
    const more = enqueue(50)
    await doomed.kill()
    await before.over
    wanted.push(...(await more))
    const after = listen(nodes[0]!.url, { lastEventId: before.lastEventId })
    const heard = () => new Set(ends([...before.events, ...after.events]))
    await expect.poll(() => wanted.filter((id) => !heard().has(id)), PATIENT).toEqual([])
  })

  it('reach 500 at once, each of them, and cost little memory', async () => {
    const before = process.memoryUsage().heapUsed
    const crowd = Array.from({ length: 500 }, (_, i) => listen(nodes[i % 2]!.url, { as: i % 3 ? 'read' : 'admin' }))
    expect(new Set(await Promise.all(crowd.map(({ open }) => open)))).toEqual(new Set([200]))
    await expect.poll(() => crowd.filter(({ lastEventId }) => lastEventId === null).length, PATIENT).toBe(0)
    const wanted = new Set(await enqueue(20))
    await expect.poll(() => crowd.filter((one) => new Set(ends(one.events)).size < wanted.size).length, PATIENT).toBe(0)
    for (const one of crowd) expect(ends(one.events)).toHaveLength(wanted.size)
    // The ends of both sides are in this process.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(300 * 1024 * 1024)
  })

  it('tell those of a workspace of their own only, and only admins what the audit log says', async () => {
    const [all, a, admin, b] = ['read', 'a-read', 'a-admin', 'b-admin'].map((as) => listen(nodes[0]!.url, { as }))
    for (const one of [all!, a!, admin!, b!]) await heeds(one)
    const body = { key: 'k', job: 'plain', every: '1h' }
    expect((await stage.ask('POST', '/schedules', { as: 'a-operate', body })).status).toBe(201)
    const [run] = await enqueue(1, 'a')
    const types = (one: Following) => [...new Set(one.events.map(({ type }) => type))].toSorted()
    await expect.poll(() => types(admin!), PATIENT).toEqual(['audit.schedule.create', 'run.succeeded'])
    await expect.poll(() => ends(a!.events), PATIENT).toEqual([run])
    await expect.poll(() => ends(all!.events), PATIENT).toEqual([run])
    expect(types(a!)).toEqual(['run.succeeded'])
    expect(types(all!)).toEqual(['run.succeeded'])
    const [other] = await enqueue(1, 'b')
    await expect.poll(() => ends(b!.events), PATIENT).toEqual([other])
    expect(b!.events.map(({ data }) => data.workspace)).toEqual(['b'])
    expect(ends(a!.events)).toEqual([run])
  })

  it('can be chosen by type and by schedule', async () => {
    const make = async (key: string) =>
      (await stage.ask('POST', '/schedules', { body: { key, job: 'plain', every: '1h' } })).body.id
    const [one, two] = [await make('one'), await make('two')]
    const some = listen(nodes[0]!.url, { path: `/events?types=schedule.*&schedule=${one}` })
    const paused = listen(nodes[0]!.url, { path: '/events?types=schedule.paused' })
    await heeds(some)
    await heeds(paused)
    for (const id of [two, one]) await stage.ask('POST', `/schedules/${id}/pause`, { body: {} })
    await stage.ask('POST', `/schedules/${one}/resume`, { body: {} })
    await expect
      .poll(() => some.events.map(({ type, data }) => [type, data.schedule]), PATIENT)
      .toEqual([
        ['schedule.paused', one],
        ['schedule.resumed', one],
      ])
    expect(paused.events.map(({ data }) => data.schedule)).toEqual([two, one])
  })

  it('say resync to one whose last event is none of ours', async () => {
    const strange = listen(nodes[0]!.url, { lastEventId: 'what?' })
    await expect.poll(() => strange.events.map(({ type }) => type), PATIENT).toEqual(['resync'])
  })

  it('say resync to one who missed too much, and to those who were there', async () => {
    const strange = listen(nodes[0]!.url)
    await heeds(strange)
    // More than can be told: every change of these is on record.
    const { schedules } = await coreOf(stage.app).store()
    const rows = Array.from({ length: 10_001 }, (_, i) => ({ key: `k${i}`, job: 'plain', every: '1h' }))
    for (let from = 0; from < rows.length; from += 1000)
      await stage.app.schedules.upsertMany(rows.slice(from, from + 1000) as never)
    await schedules.removeWorkspace('default', 'test')
    const late = listen(nodes[1]!.url, { lastEventId: strange.lastEventId })
    await expect.poll(() => late.events[0]?.type, PATIENT).toBe('resync')
    // Those who were here meanwhile heard it too.
    await expect.poll(() => strange.events.at(-1)?.type, PATIENT).toBe('resync')
    const again = listen(nodes[0]!.url, { lastEventId: late.lastEventId })
    await expect.poll(() => again.lastEventId, PATIENT).not.toBe(late.lastEventId)
  })

  it('end within a second when the key is revoked at another node, and no others with it', async () => {
    const { key, token: own } = await stage.server.parts.keys.create({
      ...{ name: 'short', scope: 'read', workspace: null, by: 'test', forMs: null },
    })
    const mine = follow(nodes[0]!.url, { token: own })
    const other = listen(nodes[0]!.url)
    await heeds(mine)
    await heeds(other)
    expect((await stage.ask('DELETE', `/api-keys/${key.id}`)).status).toBeLessThan(300)
    await expect.poll(() => mine.isOver, { timeout: 1500, interval: 25 }).toBe(true)
    expect(other.isOver).toBe(false)
  })

  it('of a log come to their end with the run, with what it said last', async () => {
    const [run] = await enqueue(1)
    const log = listen(nodes[0]!.url, { path: `/runs/${run}/logs` })
    await log.over
    expect(log.events.map(({ type, data }) => [type, data.message])).toEqual([
      ['log', 'hello'],
      ['end', undefined],
    ])
    const rest = listen(nodes[1]!.url, { path: `/runs/${run}/logs?after=${log.lastEventId}` })
    await rest.over
    expect(rest.events.map(({ type }) => type)).toEqual(['end'])
  })

  it('of a log end too when the key is revoked', async () => {
    const { keys } = stage.server.parts
    const { key, token: own } = await keys.create({
      ...{ name: 'short', scope: 'operate', workspace: null, by: 'test', forMs: null },
    })
    const [later] = await stage.app.enqueueMany(plain as never, [{ delay: '1h' }] as never)
    const log = follow(nodes[1]!.url, { token: own, path: `/runs/${later!.id}/logs` })
    expect(await log.open).toBe(200)
    await keys.revoke(key.id)
    await expect.poll(() => log.isOver, { timeout: 1500, interval: 25 }).toBe(true)
  })

  it('end when their key comes to its end', async () => {
    const { token: own } = await stage.server.parts.keys.create({
      ...{ name: 'short', scope: 'read', workspace: null, by: 'test', forMs: 700 },
    })
    const mine = follow(nodes[0]!.url, { token: own })
    expect(await mine.open).toBe(200)
    await expect.poll(() => mine.isOver, { timeout: 2500, interval: 25 }).toBe(true)
  })

  it('of a browser end within a second on every node when it signs out, and those of its other sessions go on', async () => {
    const signIn = async (): Promise<string> => {
      const { headers } = await stage.ask('POST', '/session', { as: null, body: { key: token('operate') } })
      return headers.get('set-cookie')!.split(';')[0]!
    }
    const [first, second] = [await signIn(), await signIn()]
    const [later] = await stage.app.enqueueMany(plain as never, [{ delay: '1h' }] as never)
    const paths = ['/events', `/runs/${later!.id}/logs`]
    const streamsOf = (cookie: string): Following[] =>
      nodes.slice(0, 2).flatMap(({ url }) => paths.map((path) => follow(url, { cookie, path })))
    const [mine, others] = [streamsOf(first), streamsOf(second)]
    following.push(...mine, ...others)
    for (const one of [...mine, ...others]) expect(await one.open).toBe(200)
    const headers = { cookie: first, 'x-everytick': '1', origin: 'http://localhost' }
    expect((await stage.ask('DELETE', '/session', { as: null, headers })).status).toBe(204)
    await expect.poll(() => mine.every(({ isOver }) => isOver), { timeout: 1500, interval: 25 }).toBe(true)
    expect(others.map(({ isOver }) => isOver)).toEqual([false, false, false, false])
  })

  it('of a browser end with the session, though nobody signs out', async () => {
    const { sessions, keys, core } = stage.server.parts
    const key = (await keys.check(token('read')))!
    const secret = await sessions.begin(key)
    const mine = follow(nodes[0]!.url, { cookie: `everytick_session=${secret}` })
    following.push(mine)
    expect(await mine.open).toBe(200)
    const { documents } = await core.store()
    const session = (await documents.get('session', createHash('sha256').update(secret).digest('hex')))!
    const { kind, id, workspace, state, data, version: from } = session
    await documents.put({ ...{ kind, id, workspace, state, data, from }, forMs: 1 })
    await expect.poll(() => mine.isOver, { timeout: 1500, interval: 25 }).toBe(true)
  })

  it('of one key and one workspace are limited, and others still get theirs', async () => {
    const { server } = await stage.another({ backgroundTasks: false })
    const { keys } = stage.server.parts
    const opened: Response[] = []
    const open = async (as: string): Promise<Response> => {
      const headers = { authorization: `Bearer ${as}` }
      const answer = await server.fetch(new Request('http://localhost/api/v1/events', { headers }))
      if (answer.status === 200) opened.push(answer)
      return answer
    }
    const newKey = async (workspace: string) =>
      (await keys.create({ name: 'many', scope: 'read', workspace, by: 'test', forMs: null })).token
    const refusalOf = async (as: string) => {
      const answer = await open(as)
      const { code, detail } = (await answer.json()) as { code: string; detail: string }
      return [answer.status, code, detail.split(':')[0], answer.headers.get('retry-after')]
    }
    const [one, two, three] = [await newKey('crowd'), await newKey('crowd'), await newKey('crowd')]
    for (const as of [one, two]) for (let i = 0; i < 250; i++) expect((await open(as)).status).toBe(200)
    expect(await refusalOf(one)).toEqual([429, 'CONCURRENCY_LIMITED', 'limit of the key', '5'])
    expect(await refusalOf(three)).toEqual([429, 'CONCURRENCY_LIMITED', 'limit of the workspace', '5'])
    expect((await open(token('b-read'))).status).toBe(200)
    // A place comes back with the end of a stream.
    await opened[0]!.body!.cancel()
    expect((await open(one)).status).toBe(200)
    for (const { body } of opened) await body!.cancel().catch(() => {})
  })

  it('end when the server closes, which waits for nobody', async () => {
    const [later] = await stage.app.enqueueMany(plain as never, [{ delay: '1h' }] as never)
    const one = listen(nodes[0]!.url)
    const log = listen(nodes[0]!.url, { path: `/runs/${later!.id}/logs` })
    await heeds(one)
    expect(await log.open).toBe(200)
    await nodes[0]!.close()
    await Promise.all([one.over, log.over])
    expect(await listen(nodes[0]!.url).open).toBe(0)
  })
})
