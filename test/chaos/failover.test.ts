/** A primary server is lost and its standby promoted, under an app at work: what was acknowledged and is gone is inside the reported span, and no stale result is accepted. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, type Everytick, everytick, schedule } from '../../src/index.ts'
import { diagnose } from '../../src/observe/diagnosis.ts'
import { openPostgres, type PostgresStore } from '../../src/postgres.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { createAlerter } from '../../src/server/alerting/alerter.ts'
import { unresolved } from '../../src/server/alerting/alerts.ts'
import { createDiagnosis } from '../../src/server/diagnosis.ts'
import { systemClock } from '../../src/time/clock.ts'
import { uuidGenerator } from '../../src/uuid.ts'
import { type Replicas, startReplicas } from '../postgres/replicas.ts'
import { until } from './fleet.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const reportPresence = defineJob({ name: 'beat', run: () => {} })
let holders: ((answer: string) => void)[] = []
/** Goes on after its lease is lost, as code does that does not look at its signal. */
const hold = defineJob({
  name: 'hold',
  queue: 'held',
  run: () => new Promise<string>((resolve) => holders.push(resolve)),
})
const second = schedule({ key: 'second', every: '1s', job: reportPresence, catchUp: 'all', overlap: 'allow' })

interface Acknowledged {
  readonly what: string
  readonly at: number
  isThere(): Promise<boolean>
}

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
  holders = []
})

async function replicasOf(options: { synchronous: boolean }): Promise<Replicas> {
  const replicas = await startReplicas(options)
  endings.push(() => replicas.stop())
  return replicas
}

async function storeOn(url: string): Promise<PostgresStore> {
  const store = await openPostgres({ url, statementTimeoutMs: 5000 })
  endings.push(() => store.close())
  return store
}

/** An app that plans and works, on a server that has a note of it. */
async function started(store: PostgresStore): Promise<Everytick> {
  const app = everytick({
    store,
    jobs: [reportPresence, hold],
    queues: { default: 5, held: 2 },
    lease: '2s',
    logger: quiet,
  })
  endings.push(() => app.stop({ drain: '0s' }))
  await app.start()
  await app.schedules.upsert(second)
  await until('a run has succeeded', async () => (await app.runs.list({ state: 'succeeded' })).length > 0)
  return app
}

/** One acknowledged write of each kind. */
async function write(app: Everytick, key: string): Promise<Acknowledged[]> {
  const found: Acknowledged[] = []
  const acknowledged = (what: string, isThere: () => Promise<boolean>): unknown =>
    found.push({ what, at: Date.now(), isThere })
  const triggered = await app.schedules.trigger('default', 'second')
  acknowledged('trigger', async () => (await app.runs.get(triggered.id)) !== null)
  const enqueued = await app.enqueue(reportPresence)
  acknowledged('enqueue', async () => (await app.runs.get(enqueued.id)) !== null)
  await app.schedules.upsert(schedule({ key, every: '1h', job: reportPresence }))
  acknowledged('upsert', async () => (await app.schedules.get('default', key)) !== null)
  return found
}

async function missingOf(all: readonly Acknowledged[]): Promise<Acknowledged[]> {
  const there = await Promise.all(all.map((each) => each.isThere()))
  return all.filter((_, i) => !there[i])
}

/** Calls that meet the failover itself fail, and were not acknowledged. */
async function plansAgain(app: Everytick): Promise<void> {
  const at = Date.now()
  await until('an occurrence after the failover has run', async () => {
    const page = await app.runs.list({ schedule: 'second', state: 'succeeded' }).catch(() => null)
    return page?.some(({ scheduledAt }) => scheduledAt !== null && scheduledAt.getTime() > at)
  })
}

describe('a failover', () => {
  it('to an asynchronous standby reports a span that holds every acknowledged write that is missing, and accepts no stale result', async () => {
    const replicas = await replicasOf({ synchronous: false })
    const store = await storeOn(replicas.url)
    const app = await started(store)
    const events: { mayHaveLost: boolean; from: Date; to: Date }[] = []
    const refused: string[] = []
    app.on('store.failed_over', (event) => events.push(event))
    app.on('run.refused', ({ run }) => refused.push(run.id))

    const kept = await write(app, 'kept')
    await app.queues.pause('held')
    const leased = await app.enqueue(hold)
    await replicas.caughtUp()
    await replicas.cutReplication()
    const lost = [...(await write(app, 'lost-1')), ...(await write(app, 'lost-2'))]
    await app.queues.resume('held')
    await until('the run is claimed on the primary', async () => holders.length === 1)
    await replicas.failOver()
    await until('the failover is noticed', async () => events.length > 0)
    await plansAgain(app)

    const missing = await missingOf([...kept, ...lost])
    expect(missing.map(({ what }) => what).sort()).toEqual([
      ...['enqueue', 'enqueue', 'trigger', 'trigger', 'upsert', 'upsert'],
    ])
    const failovers = await store.failovers.list(10)
    expect(failovers).toMatchObject([
      { cause: 'timeline', mayHaveLost: true, before: { timeline: 1 }, after: { timeline: 2 } },
    ])
    const { from, to } = failovers[0]!
    for (const { at } of missing) expect([at > from, at <= to]).toEqual([true, true])
    expect(from).toBeGreaterThan(0)
    expect(events).toEqual([{ mayHaveLost: true, from: new Date(from), to: new Date(to), cause: 'timeline' }])

    // The same fence is handed out again: only the id of the claim tells the two holders apart.
    await app.queues.resume('held')
    await until('the run is claimed again', async () => holders.length === 2)
    holders[0]!('stale')
    await until('the stale result is refused', async () => refused.includes(leased.id))
    expect(await app.runs.get(leased.id)).toMatchObject({ state: 'running', fence: 1 })
    holders[1]!('fresh')
    await until('the run has ended', async () => (await app.runs.get(leased.id))?.state === 'succeeded')
    expect(await app.runs.get(leased.id)).toMatchObject({ result: 'fresh', fence: 1 })

    const report = await app.audit()
    expect(report).toMatchObject({ ok: true, notes: [{ kind: 'failover', from: new Date(from), to: new Date(to) }] })
    const findings = diagnose((await createDiagnosis(coreOf(app))()).facts)
    expect(findings.find(({ check }) => check === 'failover')).toMatchObject({ level: 'warning' })
    const onError = (error: unknown): never => {
      throw error
    }
    await createAlerter({ store, clock: systemClock, node: 'n', newId: uuidGenerator(systemClock), onError }).pass()
    const alerts = (await unresolved(store.documents)).map(({ alert }) => alert)
    expect(alerts.filter(({ kind }) => kind === 'store_failed_over')).toHaveLength(1)

    // A process that begins now finds the record, and adds none.
    const later = await storeOn(replicas.url)
    await later.failovers.confirm()
    expect(await later.failovers.list(10)).toEqual(failovers)
  }, 180_000)

  it('to a synchronous standby loses nothing, and is not reported as a loss', async () => {
    const replicas = await replicasOf({ synchronous: true })
    const store = await storeOn(replicas.url)
    const app = await started(store)
    const events: { mayHaveLost: boolean }[] = []
    app.on('store.failed_over', (event) => events.push(event))
    const acknowledged = await write(app, 'before')
    // Writes go on until the primary is gone: each either fails or is there afterwards.
    let ended = false
    const writing = (async () => {
      for (let n = 0; !ended; n++) acknowledged.push(...(await write(app, `during-${n}`).catch(() => [])))
    })()
    await until('writes are acknowledged', async () => acknowledged.length > 12)
    await replicas.failOver()
    await until('the failover is noticed', async () => events.length > 0)
    ended = true
    await writing
    await plansAgain(app)
    expect(await missingOf(acknowledged)).toEqual([])
    expect(events).toMatchObject([{ mayHaveLost: false }])
    expect(await store.failovers.list(10)).toMatchObject([{ cause: 'timeline', mayHaveLost: false }])
    expect(await app.audit()).toMatchObject({ ok: true, notes: [] })
    const findings = diagnose((await createDiagnosis(coreOf(app))()).facts)
    expect(findings.filter(({ check }) => check === 'failover')).toEqual([])
  }, 180_000)

  it('is recognised by a process that was not there, from the note in the database', async () => {
    const replicas = await replicasOf({ synchronous: false })
    const before = await openPostgres({ url: replicas.url })
    await before.failovers.confirm()
    await replicas.caughtUp()
    await before.close()
    await replicas.failOver()
    const store = await storeOn(replicas.url)
    const seen: string[] = []
    await store.now()
    store.failovers.onFailover(({ cause }) => seen.push(cause))
    expect(seen).toEqual(['timeline'])
    expect(await store.failovers.list(10)).toMatchObject([{ mayHaveLost: true }])
  }, 60_000)

  it('leaves an old primary that is named beside the new one passed over, and says so when no other answers', async () => {
    const replicas = await replicasOf({ synchronous: false })
    const store = await storeOn(replicas.bothUrl)
    await store.failovers.confirm()
    await replicas.caughtUp()
    await replicas.failOver()
    await until('the store works on the new primary', () => store.now().catch(() => null))
    await store.failovers.confirm()
    await replicas.startOldPrimary()
    const startPromoted = await replicas.stopPromoted()
    await until('no host is left', () =>
      store.now().then(
        () => false,
        ({ code, message }) =>
          code === 'STORE_UNREACHABLE' && / does not listen: .*; 127\.0\.0\.1:\d+ is an old primary/.test(message),
      ),
    )
    await startPromoted()
    // Without a move to the next host, each connection from here on would lead to the old primary.
    await until('the store works on the new primary again', () => store.now().catch(() => null))
    expect(await store.failovers.list(10)).toMatchObject([{ after: { timeline: 2 } }])
  }, 60_000)

  it('leaves a standby and an old primary refused, with what to check', async () => {
    const replicas = await replicasOf({ synchronous: false })
    const standby = { code: 'STORE_STANDBY', hint: expect.stringMatching(/--db, DATABASE_URL or store/) }
    const store = await storeOn(replicas.url)
    await replicas.caughtUp()
    await expect(openPostgres({ url: replicas.standbyUrl })).rejects.toMatchObject(standby)
    await expect(openPostgres({ url: replicas.standbyUrl, migrate: false })).rejects.toMatchObject(standby)
    await store.failovers.confirm()
    await replicas.caughtUp()
    await replicas.failOver({ keepPrimary: true })
    await until('the store works on the new primary', () => store.now().catch(() => null))
    replicas.backToOldPrimary()
    await until('the old primary is refused', () =>
      store.now().then(
        () => false,
        (error) => error.code === 'STORE_STANDBY',
      ),
    )
    await expect(store.now()).rejects.toMatchObject({ ...standby, message: expect.stringMatching(/old primary/) })
  }, 60_000)
})
