/** Events over real connections: nobody misses anything, whatever happens to nodes and connections in between. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { logReply } from '../../src/server/run-logs.ts'
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
    stage = await openStage(store)
    child = startChild({ store: coreOf(stage.app).settings.store as string, works: false, duties: false })
    nodes = []
    for (const app of [stage.app, (await stage.another({ duties: false })).app])
      nodes.push(await serve(app, { port: 0, duties: false, rate: RATE }))
    const worker = await stage.another({ duties: false })
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
    const { key } = await keys.create({ name: 'short', scope: 'operate', workspace: null, by: 'test', forMs: null })
    const [later] = await stage.app.enqueueMany(plain as never, [{ delay: '1h' }] as never)
    const run = await (await coreOf(stage.app).store()).history.run(later!.id)
    const { raw } = await logReply(stage.server.parts, run!, { follow: true, keyId: key.id })
    let text: string | null = null
    void raw!.text().then((all) => {
      text = all
    })
    await keys.revoke(key.id)
    await expect.poll(() => text, { timeout: 1500, interval: 25 }).toBe('')
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
