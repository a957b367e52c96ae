/** What alerts open in the situations that a person meets at night, and which do not, on both stores: no alert is missing and none is false. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createJanitor } from '../../src/engine/janitor.ts'
import { everybodyLeads } from '../../src/engine/leadership.ts'
import { defineJob, RetryAfter, schedule } from '../../src/index.ts'
import type { Alert } from '../../src/observe/alert.ts'
import { resolved } from '../../src/observe/alert.ts'
import { DEFAULT_RETRY } from '../../src/run/retry.ts'
import { createAlerter } from '../../src/server/alerting/alerter.ts'
import { moveAlert, unresolved } from '../../src/server/alerting/alerts.ts'
import type { Store } from '../../src/store/contract/store.ts'
import type { Retention } from '../../src/store/contract/upkeep.ts'
import { startedIn, type TestEverytick, type TestOptions } from '../../src/testing/test-everytick.ts'
import { uuidGenerator } from '../../src/uuid.ts'
import { PLACES, type Place } from '../policies/places.ts'

const START = Date.parse('2027-01-01T00:00:30Z')
const MINUTE = 60_000

let place: Place
let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
  await place.close()
})

function looking(store: Store = place.store): () => Promise<unknown> {
  const { clock } = place
  const onError = (error: unknown): never => {
    throw error
  }
  return () => createAlerter({ store, clock, node: 'node', newId: uuidGenerator(clock), onError }).pass()
}

/** The app lives, and somebody looks every fifteen seconds. */
async function living(ms: number, look = looking()): Promise<void> {
  for (let passed = 0; passed < ms; passed += 15_000) {
    await t.advance('15s')
    await look()
  }
}

/** Nobody is there: no planner, no worker, and nobody who looks. */
async function away(ms: number): Promise<void> {
  const at = place.clock.now() + ms
  await place.moved?.(at)
  place.clock.moveTo(at)
}

const openAlerts = async (): Promise<Alert[]> =>
  (await unresolved(place.store.documents)).map(({ alert }) => alert).filter(({ state }) => state !== 'resolved')
const kinds = async (): Promise<string[]> => (await openAlerts()).map(({ kind }) => kind).sort()

let open: (typeof PLACES)[keyof typeof PLACES]

const start = async (options: Omit<TestOptions, 'now'>, at = START): Promise<void> => {
  place = await open(at)
  t = await startedIn(place, options)
}
const quick = defineJob({ name: 'quick', run: () => {} })
let fails = false
beforeEach(() => {
  fails = false
})
const nightly = defineJob({
  name: 'report',
  retry: { attempts: 1 },
  run: () => {
    if (fails) throw new TypeError('rate is undefined')
  },
})

describe.each(Object.entries(PLACES))('on %s', (_, opening) => {
  beforeEach(() => {
    open = opening
  })

  it('a restart after three minutes, or a machine that slept, opens nothing before the planner has caught up', async () => {
    const minutely = Array.from({ length: 9 }, (_, n) => schedule({ key: `k${n}`, every: '1m', job: quick }))
    const often = schedule({ key: 'often', every: '5s', job: quick, catchUp: 'all' })
    const never = schedule({ key: 'never', every: '5s', job: quick, catchUp: 'none' })
    await start({ jobs: [quick], schedules: [...minutely, often, never] })
    await living(2 * MINUTE)
    expect(await kinds()).toEqual([])
    await t.crash()
    await away(3 * MINUTE)
    // The first look comes before the planner.
    await looking()()
    expect(await kinds()).toEqual([])
    await living(6 * MINUTE)
    // What catch-up leaves out was missed, and that is true.
    expect(await kinds()).toEqual(['missed'])
  })

  it('a planner that stays away is told of, also after a restart', async () => {
    await start({ jobs: [quick], schedules: [schedule({ key: 'minutely', every: '1m', job: quick })] })
    await living(2 * MINUTE)
    await t.crash()
    await away(10 * MINUTE)
    const look = looking()
    for (let n = 0; n <= 6; n++) {
      await look()
      await away(15_000)
    }
    expect(await kinds()).toEqual(['planner_stalled', 'schedule_not_fired'])
  })

  it('a nightly job that fails once is one alert, which names it, until it succeeds again', async () => {
    fails = true
    const key = 'nightly'
    await start({ jobs: [nightly], schedules: [schedule({ key, cron: '0 2 * * *', job: nightly })] }, START)
    await t.advanceTo('2027-01-01T01:59:00Z')
    await living(45_000)
    expect(await kinds()).toEqual([])
    await living(3 * MINUTE)
    const [alert, ...others] = await openAlerts()
    expect(others).toEqual([])
    expect(alert).toMatchObject({
      ...{ kind: 'run_failed', title: 'Schedule default/nightly failed', workspace: 'default' },
      values: { job: 'report', schedule: 'default/nightly', error: 'TypeError: rate is undefined' },
    })
    await t.advanceTo('2027-01-02T02:01:00Z')
    await looking()()
    // Once more, and it stays the one.
    expect((await openAlerts()).filter(({ kind }) => kind === 'run_failed')).toMatchObject([{ id: alert!.id }])
    fails = false
    await t.advanceTo('2027-01-03T02:02:00Z')
    await living(4 * MINUTE)
    expect(await kinds()).toEqual([])
  })

  it('a failure that a person has closed is not told again, and the next one is', async () => {
    fails = true
    await start({ jobs: [nightly] })
    await t.app.enqueue(nightly)
    await living(MINUTE)
    const [alert] = await openAlerts()
    expect(alert).toMatchObject({ kind: 'run_failed', title: 'A run of job report failed' })
    const act = { by: 'ana', at: place.clock.now() }
    await moveAlert(place.store.documents, alert!.id, (each) => resolved(each, act))
    await living(MINUTE)
    expect(await kinds()).toEqual([])
    await t.app.enqueue(nightly)
    await living(MINUTE)
    expect(await kinds()).toEqual(['run_failed'])
    fails = false
    await t.app.enqueue(nightly)
    await living(4 * MINUTE)
    expect(await kinds()).toEqual([])
  })

  it('many enqueued runs in a store without schedules are a deep queue, and no schedule that has not fired', async () => {
    await start({ jobs: [quick] })
    await t.crash()
    await looking()()
    await t.app.enqueueMany(
      quick,
      Array.from({ length: 600 }, () => ({ queue: 'other' })),
    )
    for (let n = 0; n < 8; n++) {
      await away(15_000)
      await looking()()
    }
    expect(await kinds()).toEqual(['no_worker', 'queue_depth'])
  })

  it('runs of a job that no worker has are told of', async () => {
    await start({ jobs: [quick] })
    const id = uuidGenerator(place.clock)()
    const nothing = {
      payload: null,
      schedule: null,
      slot: null,
      group: null,
      idempotencyKey: null,
      policy: { retry: DEFAULT_RETRY },
    }
    const run = { workspace: 'default', job: 'typo', queue: 'default', trigger: 'enqueue', priority: 5 } as const
    await place.store.runs.enqueue([{ id, ...run, ...nothing, overlap: 'allow', due: { delayMs: 0 } }])
    await living(2 * MINUTE)
    expect(await openAlerts()).toMatchObject([
      { kind: 'orphaned_rows', values: { job: 'typo', queue: 'default', runs: 1 } },
    ])
  })
})

/** They take many looks, in which one store is as good as the other. */
describe('over a longer time', () => {
  beforeEach(() => {
    open = PLACES.SQLite
  })

  it('a handler that hangs under skip is told of, as the silence of its schedule and as a long run', async () => {
    let release = (): void => {}
    let hangs = false
    const hanging = defineJob({
      name: 'hanging',
      timeout: 'none',
      run: () => (hangs ? new Promise<void>((resolve) => (release = resolve)) : undefined),
    })
    const schedules = [schedule({ key: 'often', every: '5s', job: hanging, overlap: 'skip' })]
    await start({ jobs: [hanging], schedules })
    await living(MINUTE)
    hangs = true
    await living(4 * MINUTE)
    expect(await kinds()).not.toContain('no_success')
    await living(2 * MINUTE)
    expect(await kinds()).toEqual(['no_success', 'run_too_long'])
    expect((await openAlerts()).find(({ kind }) => kind === 'no_success')).toMatchObject({
      title: 'Schedule default/often has had no successful run for too long',
      severity: 'critical',
      values: { running: expect.any(String) },
    })
    hangs = false
    release()
    await living(4 * MINUTE)
    expect(await kinds()).toEqual([])
  })

  it.each(['queue', 'allow', 'skip'] as const)(
    'a run that waits long for its retry under %s opens no_success, which resolves after a success',
    async (overlap) => {
      fails = true
      const job = defineJob({
        name: 'patient',
        run: () => {
          if (fails) throw new RetryAfter('40m')
        },
      })
      await start({ jobs: [job], schedules: [schedule({ key: 'often', every: '5m', job, overlap })] })
      await living(12 * MINUTE)
      expect(await kinds()).not.toContain('no_success')
      await living(10 * MINUTE)
      expect(await kinds()).toContain('no_success')
      fails = false
      await living(30 * MINUTE)
      expect(await kinds()).not.toContain('no_success')
    },
  )

  it('a run that no worker starts under skip opens no_success', async () => {
    const often = schedule({ key: 'often', every: '5s', job: quick, queue: 'other', overlap: 'skip' })
    await start({ jobs: [quick], schedules: [often], queues: { default: 5 } })
    await living(4 * MINUTE)
    expect(await kinds()).not.toContain('no_success')
    await living(2 * MINUTE)
    expect(await kinds()).toContain('no_success')
  })

  it('a run without a schedule and without a timeout is told of when it takes ten times as long as its job does', async () => {
    let release = (): void => {}
    let hangs = false
    const job = defineJob({
      name: 'hanging',
      timeout: 'none',
      run: () => (hangs ? new Promise<void>((resolve) => (release = resolve)) : undefined),
    })
    await start({ jobs: [job] })
    for (let n = 0; n < 3; n++) {
      await t.app.enqueue(job)
      await living(15_000)
    }
    hangs = true
    await t.app.enqueue(job)
    await living(45_000)
    expect(await kinds()).toEqual([])
    await living(MINUTE)
    expect(await openAlerts()).toMatchObject([{ kind: 'run_too_long', values: { job: 'hanging', schedule: null } }])
    hangs = false
    release()
    await living(4 * MINUTE)
    expect(await kinds()).toEqual([])
  })

  it('a schedule whose runs take longer than its period is not told of as silent', async () => {
    let release = (): void => {}
    const long = defineJob({ name: 'long', run: () => new Promise<void>((resolve) => (release = resolve)) })
    await start({ jobs: [long], schedules: [schedule({ key: 'often', every: '30s', job: long, overlap: 'skip' })] })
    // The first three runs show how long they take; nobody can know before.
    for (let n = 0; n < 3; n++) {
      await living(4 * MINUTE)
      release()
    }
    for (let n = 0; n < 2; n++) {
      await living(8 * MINUTE)
      expect(await kinds()).toEqual([])
      release()
    }
  })

  it('a paused queue, a paused schedule and a queue that goes on after an hour open nothing', async () => {
    const schedules = [
      schedule({ key: 'held', every: '5s', job: quick, overlap: 'skip' }),
      schedule({ key: 'minutely', every: '1m', job: quick, overlap: 'queue' }),
    ]
    await start({ jobs: [quick], schedules })
    await living(MINUTE)
    await t.app.queues.pause('default')
    await t.app.schedules.pause('default', 'minutely')
    await living(20 * MINUTE)
    expect(await kinds()).toEqual([])
    await t.app.queues.resume('default')
    await t.app.schedules.resume('default', 'minutely')
    await looking()()
    expect(await kinds()).toEqual([])
    await living(2 * MINUTE)
    expect(await kinds()).toEqual([])
  })

  it('cleaning up that fails is told of with the reason, and not while it goes well', async () => {
    await start({ jobs: [quick] })
    let isFull = false
    const tidy: Store['upkeep']['tidy'] = (retention) =>
      isFull ? Promise.reject(new Error('no space left')) : place.store.upkeep.tidy(retention)
    const store = { ...place.store, upkeep: { ...place.store.upkeep, tidy } }
    const day = 86_400_000
    const kept = { historyMs: day, journalMs: day, idempotencyMs: day, workersMs: day }
    const retention: Retention = { ...kept, orphansMs: day, endedMs: null }
    const janitor = createJanitor({ store, leadership: everybodyLeads, retention, onEvent: () => {} })
    const look = looking()
    const cleaning = async (): Promise<unknown> => {
      const info = { id: 'p', host: 'h', pid: 1, roles: ['scheduler'], queues: {}, tzdata: '', busy: 0 } as const
      await place.store.workers.reportPresence(info)
      await janitor.pass().catch(() => {})
      return look()
    }
    await living(30 * MINUTE, cleaning)
    expect(await kinds()).toEqual([])
    isFull = true
    await living(9 * MINUTE, cleaning)
    expect(await kinds()).toEqual([])
    await living(13 * MINUTE, cleaning)
    expect(await openAlerts()).toMatchObject([{ kind: 'cleanup_failing', values: { error: 'no space left' } }])
    isFull = false
    await living(5 * MINUTE, cleaning)
    expect(await kinds()).toEqual([])
  })
})
