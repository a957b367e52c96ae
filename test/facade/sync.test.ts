/** Schedules in code: what a start does to the stored ones, and what it leaves alone. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type DeclaredSchedule,
  defineJob,
  type Everytick,
  type EverytickOptions,
  everytick,
  type SyncReport,
  schedule,
} from '../../src/index.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { createTestEverytick } from '../../src/testing/test-everytick.ts'
import { systemClock } from '../../src/time/clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'everytick-sync-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let file = 0
beforeEach(() => void file++)

const noop = defineJob({ name: 'noop', run: () => {} })
const strict = defineJob({ name: 'strict', payload: z.object({ id: z.string() }), run: () => {} })
const first = schedule({ key: 'first', every: '1h', job: noop })
const second = schedule({ key: 'second', every: '2h', job: noop })

interface Deploy extends Omit<EverytickOptions, 'store' | 'jobs'> {
  readonly schedules: readonly DeclaredSchedule[]
}
const store = (): string => `sqlite:${join(folder, `${file}.db`)}`

/** One deploy: an app on the file of this test, synced, looked at and stopped. */
async function deploy<T>(options: Deploy, look: (app: Everytick) => Promise<T>): Promise<T> {
  await using app = everytick({ store: store(), jobs: [noop, strict], ...options })
  return await look(app)
}
const sync = (options: Deploy): Promise<SyncReport> => deploy(options, (app) => app.sync())
/** Its counts alone. */
const counts = ({ plan: _, ...rest }: SyncReport): object => rest
const NOTHING = { created: 0, changed: 0, unchanged: 0, orphaned: [], removed: [], outdated: false }
/** Its steps in short. */
const steps = ({ plan }: SyncReport): unknown[] => plan.map(({ action, name }) => `${action} ${name}`)
const states = async (app: Everytick): Promise<unknown[]> =>
  (await app.schedules.list()).map(({ key, source, paused }) => [key, source, paused?.reason ?? null])

describe('a sync', () => {
  it('stores what is new, changes what differs, and leaves alone what is the same', async () => {
    const report = await sync({ schedules: [first, second] })
    expect(counts(report)).toEqual({ ...NOTHING, created: 2 })
    expect(steps(report)).toEqual(['create default/first', 'create default/second'])
    const slower = schedule({ key: 'second', every: '3h', job: noop, jitter: '5m' })
    const again = await sync({ schedules: [first, slower] })
    expect(counts(again)).toEqual({ ...NOTHING, changed: 1, unchanged: 1 })
    expect(again.plan).toEqual([
      {
        ...{ action: 'update', name: 'default/second', workspace: 'default', key: 'second' },
        ...{ before: { every: '2h', jitter: 'none' }, after: { every: '3h', jitter: '5m' } },
      },
    ])
    expect(await sync({ schedules: [first, slower] })).toEqual({ ...NOTHING, unchanged: 2, plan: [] })
  })

  it('pauses what is no longer in code, says so, and takes it back when it returns', async () => {
    await deploy({ schedules: [first, second] }, (app) => app.sync())
    const { report, after } = await deploy({ schedules: [first] }, async (app) => ({
      report: await app.sync(),
      after: await states(app),
    }))
    expect(report.orphaned).toEqual(['default/second'])
    expect(after).toEqual([
      ['first', 'code', null],
      ['second', 'code', 'orphan: no longer in code'],
    ])
    expect((await deploy({ schedules: [first] }, (app) => app.sync())).orphaned).toEqual([])
    const back = await deploy({ schedules: [first, second] }, async (app) => {
      await app.sync()
      return states(app)
    })
    expect(back).toEqual([
      ['first', 'code', null],
      ['second', 'code', null],
    ])
  })

  it("keeps an operator's pause, whether the schedule stays in code, leaves it or returns", async () => {
    await deploy({ schedules: [first] }, async (app) => {
      await app.sync()
      await app.schedules.pause('default', 'first', { reason: 'incident 7', by: 'ana' })
    })
    for (const schedules of [[first], [], [first]]) {
      const after = await deploy({ schedules }, async (app) => {
        await app.sync()
        return states(app)
      })
      expect(after).toEqual([['first', 'code', 'incident 7']])
    }
  })

  it('leaves alone what callers made, and what an app of another name made', async () => {
    await deploy({ schedules: [first], name: 'billing' }, async (app) => {
      await app.sync()
      await app.schedules.upsert({ key: 'by-hand', every: '1h', job: noop })
    })
    const after = await deploy({ schedules: [second], name: 'mail' }, async (app) => {
      await app.sync()
      return states(app)
    })
    expect(after).toEqual([
      ['by-hand', 'api', null],
      ['first', 'code:billing', null],
      ['second', 'code:mail', null],
    ])
  })

  it('fails before anything changes when one payload does not fit its schema', async () => {
    await deploy({ schedules: [first, second] }, (app) => app.sync())
    const bad = schedule({ key: 'bad', every: '1h', job: 'strict', payload: { id: 5 } })
    const slower = schedule({ key: 'first', every: '9h', job: noop })
    await deploy({ schedules: [slower, bad] }, async (app) => {
      await expect(app.sync()).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
      await expect(app.start()).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
      expect(await app.schedules.get('default', 'first')).toMatchObject({ every: '1h' })
      expect(await app.schedules.get('default', 'second')).toMatchObject({ paused: null })
    })
  })

  it('happens at the start of a scheduler and not of a worker', async () => {
    expect(
      await deploy({ schedules: [first] }, async (app) => {
        await app.start({ role: 'worker' })
        return states(app)
      }),
    ).toEqual([])
    expect(
      await deploy({ schedules: [first] }, async (app) => {
        await app.start({ role: 'scheduler' })
        return states(app)
      }),
    ).toEqual([['first', 'code', null]])
  })
})

describe('a dry run', () => {
  it('says what a sync would do, in the words of the schedules, and writes nothing at all', async () => {
    const third = schedule({ key: 'third', every: '1h', job: noop })
    await deploy({ schedules: [first, second, third], build: 5 }, async (app) => {
      await app.sync()
      await app.schedules.pause('default', 'third', { reason: 'incident 7', by: 'ana' })
    })
    const slower = schedule({ key: 'third', every: '3h', job: noop })
    const fourth = schedule({ key: 'fourth', cron: '0 9 * * *', job: noop })
    const { dry, before, after, locks } = await deploy(
      { schedules: [first, slower, fourth], build: 9 },
      async (app) => ({
        before: await app.schedules.list(),
        dry: await app.sync({ dryRun: true }),
        after: await app.schedules.list(),
        locks: await app.locks.list(),
      }),
    )
    expect(after).toEqual(before)
    expect(locks.map(({ until }) => until.getTime() > systemClock.now())).not.toContain(true)
    expect(counts(dry)).toEqual({ ...NOTHING, created: 1, changed: 1, unchanged: 1, orphaned: ['default/second'] })
    expect(dry.plan).toMatchObject([
      {
        ...{ action: 'update', name: 'default/third', paused: 'by ana: incident 7' },
        ...{ before: { every: '1h' }, after: { every: '3h' } },
      },
      { action: 'create', name: 'default/fourth', after: { cron: '0 9 * * *', timezone: 'UTC', overlap: 'skip' } },
      { action: 'orphan', name: 'default/second' },
    ])
    // Not even the build was kept: an older one than the dry run's is still welcome.
    const real = await sync({ schedules: [first, slower, fourth], build: 8 })
    expect(real).toEqual(dry)
  })

  it('finds a bad payload too', async () => {
    const bad = schedule({ key: 'bad', every: '1h', job: 'strict', payload: { id: 5 } })
    await deploy({ schedules: [bad] }, async (app) => {
      await expect(app.sync({ dryRun: true })).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
      await expect(app.sync({ dry: true } as never)).rejects.toMatchObject({ code: 'OPTION_UNKNOWN' })
    })
  })
})

describe('a schedule that code no longer has', () => {
  it('is removed at once where the app says so, but never one that somebody paused', async () => {
    const third = schedule({ key: 'third', every: '1h', job: noop })
    await deploy({ schedules: [first, second, third] }, async (app) => {
      await app.sync()
      await app.schedules.pause('default', 'third', { by: 'ana' })
    })
    // What an earlier deploy had paused goes too.
    await sync({ schedules: [first] })
    const report = await sync({ schedules: [], removed: 'delete' })
    expect(counts(report)).toEqual({ ...NOTHING, removed: ['default/first', 'default/second'] })
    expect(steps(report)).toEqual(['remove default/first', 'remove default/second', 'keep paused default/third'])
    expect(await deploy({ schedules: [] }, states)).toEqual([['third', 'code', '']])
  })

  it('is removed when it has been paused for the time given', async () => {
    await using t = await createTestEverytick({
      now: '2027-05-01T00:00:00Z',
      jobs: [noop],
      retention: { orphans: '2d' },
    })
    const put = { key: 'old', every: '1h', job: noop } as const
    await t.app.schedules.upsert(put)
    await t.store.schedules.pause('default', 'old', { reason: 'orphan: no longer in code', by: 'sync', until: null })
    await t.app.schedules.upsert({ ...put, key: 'paused' })
    await t.app.schedules.pause('default', 'paused', { by: 'ana' })
    const forEver = { historyMs: 1e12, journalMs: 1e12, idempotencyMs: 1e12, workersMs: 1e12, endedMs: null }
    const retention = { ...forEver, orphansMs: 172_800_000 }
    await t.advance('47h')
    await t.store.upkeep.tidy(retention)
    expect(await t.app.schedules.get('default', 'old')).not.toBeNull()
    await t.advance('2h')
    await t.store.upkeep.tidy(retention)
    expect((await t.app.schedules.list()).map(({ key }) => key)).toEqual(['paused'])
  })

  it('is taken back with its changes when it returns', async () => {
    await sync({ schedules: [first, second] })
    await sync({ schedules: [first] })
    const slower = schedule({ key: 'second', every: '5h', job: noop })
    const report = await sync({ schedules: [first, slower] })
    expect(counts(report)).toEqual({ ...NOTHING, changed: 1, unchanged: 1 })
    expect(report.plan).toMatchObject([
      { action: 'take back', name: 'default/second', before: { every: '2h' }, after: { every: '5h' } },
    ])
    expect(await sync({ schedules: [first, slower] })).toMatchObject({ plan: [] })
  })
})

describe('a name that somebody else holds', () => {
  it("becomes code's, and is kept apart from one that only looks alike", async () => {
    await deploy({ schedules: [] }, async (app) => {
      await app.schedules.upsert({ key: 'first', every: '1h', job: noop })
      await app.schedules.upsert({ workspace: 'a', key: 'b/c', every: '1h', job: noop })
    })
    const uniform = schedule({ workspace: 'a/b', key: 'c', every: '1h', job: noop })
    const report = await sync({ schedules: [first, uniform] })
    expect(report.plan).toMatchObject([
      { action: 'update', name: 'default/first', before: { source: 'api' }, after: { source: 'code' } },
      { action: 'create', workspace: 'a/b', key: 'c' },
    ])
  })
})

describe('an older build', () => {
  it('changes nothing once a newer one has been here, says so, and does not stop the app from starting', async () => {
    await sync({ schedules: [first], build: 2 })
    const warnings: unknown[] = []
    const logger = { debug() {}, info() {}, warn: (...words: unknown[]) => void warnings.push(words), error() {} }
    const report = await deploy({ schedules: [second], build: 1, removed: 'delete', logger }, async (app) => {
      const answer = await app.sync()
      await app.start()
      expect(await states(app)).toEqual([['first', 'code', null]])
      return answer
    })
    expect(report).toEqual({ ...NOTHING, outdated: true, plan: [] })
    expect(warnings).toContainEqual([expect.stringContaining('newer build'), { build: 1, newest: 2 }])
  })

  it.each([
    ['the same build again', 2],
    ['a newer one', 3],
    ['one that does not say', undefined],
  ])('is not %s', async (_, build) => {
    await sync({ schedules: [first], build: 2 })
    const report = await sync({ schedules: [second], ...(build === undefined ? {} : { build }) })
    expect(counts(report)).toEqual({ ...NOTHING, created: 1, orphaned: ['default/first'] })
  })

  it('of another app is none of its business', async () => {
    await sync({ schedules: [first], build: 2, name: 'billing' })
    expect(await sync({ schedules: [second], build: 1, name: 'mail' })).toMatchObject({ outdated: false, created: 1 })
  })
})

describe('two syncs at the same time', () => {
  it('take turns: the second sees what the first has done', async () => {
    await using one = everytick({ store: store(), jobs: [noop], schedules: [first, second] })
    const reports = await Promise.all([one.sync(), one.sync()])
    expect(reports.map(({ created }) => created).sort()).toEqual([0, 2])
  })

  it('wait for each other, though not for ever, and leave those of other apps alone', async () => {
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [noop], name: 'billing' })
    const rival = { name: 'sync:code:billing', holder: 'rival' }
    await t.store.locks.acquire(rival.name, rival.holder, 120_000)
    await t.store.locks.acquire('sync:code:mail', 'rival', 120_000)
    let ended = 'not yet'
    const waiting = t.app.sync().then(
      () => 'synced',
      (error: { code: string }) => error.code,
    )
    void waiting.then((answer) => (ended = answer))
    for (let seconds = 0; seconds < 29; seconds++) await t.advance('1s')
    expect(ended).toBe('not yet')
    for (let seconds = 0; seconds < 3; seconds++) await t.advance('1s')
    expect(await waiting).toBe('LOCK_HELD')
    const [lock] = (await t.store.locks.list()).filter(({ name }) => name === rival.name)
    await t.store.locks.release(lock!)
    expect(await t.app.sync()).toMatchObject({ unchanged: 0, outdated: false })
  })

  it('give the lock up, whether they went well or not', async () => {
    await sync({ schedules: [first] })
    const opened = await openSqlite({ path: join(folder, `${file}.db`), clock: systemClock })
    try {
      const leased = (await opened.locks.list()).filter(
        ({ name, until }) => name.startsWith('sync') && until > systemClock.now(),
      )
      expect(leased).toEqual([])
    } finally {
      await opened.close()
    }
  })
})
