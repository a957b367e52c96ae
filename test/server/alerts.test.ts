/** Alerts from stored facts to a receiver that really listens, on both stores: opened once, told at least once under one id, resolved, and nothing lost in a crash. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { type Alert, acknowledged, muted } from '../../src/observe/alert.ts'
import type { Logger } from '../../src/observe/logger.ts'
import { readRule } from '../../src/observe/read-alert-rule.ts'
import { createAlerter } from '../../src/server/alerting/alerter.ts'
import { alertOf, moveAlert, unresolved } from '../../src/server/alerting/alerts.ts'
import { type ChannelConfig, dataOf } from '../../src/server/alerting/channel.ts'
import { pendingIn, pendingOutboxes, type StoredNotification } from '../../src/server/alerting/notifications.ts'
import { createNotifier } from '../../src/server/alerting/notifier.ts'
import { ruleData } from '../../src/server/alerting/rules.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { uuidGenerator } from '../../src/uuid.ts'
import { PLACES, type Place } from '../policies/places.ts'
import { type Receiver, receiver, SECRET } from './receiver.ts'

const START = Date.parse('2027-01-01T00:00:30Z')
const MINUTE = 60_000
const NOT_FIRED = 'schedule_not_fired'
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const job = defineJob({ name: 'job', run: () => {} })

let place: Place
let t: TestEverytick
let inbox: Receiver
let errors: unknown[]

beforeEach(async () => {
  inbox = await receiver()
  errors = []
})
afterEach(async () => {
  await t[Symbol.asyncDispose]()
  await place.close()
  await inbox[Symbol.asyncDispose]()
  expect(errors).toEqual([])
})

/** Another process of the server, as far as alerts go. */
function node(store: Store = place.store, onError: (error: unknown) => void = (error) => errors.push(error)) {
  const { clock } = place
  const alerter = createAlerter({ store, clock, node: 'node', newId: uuidGenerator(clock), onError })
  const voice = { clock, logger: silent, allowPrivate: true }
  const notifier = createNotifier({ store, voice, random: () => 0.5 })
  return { look: () => alerter.pass(), send: () => notifier.pass() }
}

/** Time passes while nobody plans. */
async function idle(ms: number): Promise<void> {
  const at = place.clock.now() + ms
  await place.moved?.(at)
  place.clock.moveTo(at)
}

/** Time passes, and somebody looks every fifteen seconds. */
async function watching(look: () => Promise<unknown>, ms: number): Promise<void> {
  await look()
  for (let passed = 0; passed < ms; passed += 15_000) {
    await idle(15_000)
    await look()
  }
}

async function addChannel(id: string, config: ChannelConfig, workspace = ''): Promise<void> {
  const data = dataOf({ id, workspace, name: id, enabled: true, config })
  await place.store.documents.put({ kind: 'channel', id, workspace, state: '', data, from: 0 })
}

const alertsOf = async (kind: string): Promise<Alert[]> =>
  (await unresolved(place.store.documents)).map(({ alert }) => alert).filter((alert) => alert.kind === kind)

async function pendingNow(): Promise<StoredNotification[]> {
  const { documents } = place.store
  return (await Promise.all((await pendingOutboxes(documents)).map((group) => pendingIn(documents, group)))).flat()
}

/** A store whose process dies after so many writes of documents, besides the one with which each look begins. */
function dyingAfter(writes: number): Store {
  const { documents } = place.store
  let left = writes
  const put: Store['documents']['put'] = async (document) => {
    if (document.id === 'alert watch') return documents.put(document)
    if (left === 0) throw new Error('died')
    const written = await documents.put(document)
    if (written) left--
    return written
  }
  return { ...place.store, documents: { ...documents, put } }
}

describe.each(Object.entries(PLACES))('on %s', (_, open) => {
  beforeEach(async () => {
    place = await open(START)
    t = await startedIn(place, { jobs: [job], schedules: [schedule({ key: 'minutely', every: '1m', job })] })
    await t.advance('2m')
    await addChannel('hook', { kind: 'webhook', url: inbox.url, secret: SECRET })
  })

  it('all is quiet while everything is well', async () => {
    expect(await node().look()).toEqual({ fleet: true, all: true })
    expect(await unresolved(place.store.documents)).toEqual([])
  })

  it('a schedule that nobody plans any more is told of, signed, and again when it fires', async () => {
    const { look, send } = node()
    await t.crash()
    await watching(look, MINUTE)
    expect(await alertsOf(NOT_FIRED)).toEqual([])
    await watching(look, 2 * MINUTE)
    await send()
    expect(await alertsOf(NOT_FIRED)).toMatchObject([
      { state: 'open', workspace: 'default', title: 'Schedule default/minutely has not fired', untold: [] },
    ])
    expect(inbox.of(NOT_FIRED)).toEqual(['alert.opened'])
    // It goes on, and is not told again.
    for (let i = 0; i < 3; i++) {
      await idle(15_000)
      await look()
      await send()
    }
    expect(inbox.of(NOT_FIRED)).toEqual(['alert.opened'])
    await t.advance('1s')
    await look()
    await send()
    expect(inbox.of(NOT_FIRED)).toEqual(['alert.opened'])
    await t.advance('2m')
    await look()
    await send()
    expect(inbox.of(NOT_FIRED)).toEqual(['alert.opened', 'alert.resolved'])
    expect(await alertsOf(NOT_FIRED)).toEqual([])
    expect(inbox.heard.every(({ signed }) => signed)).toBe(true)
    expect(new Set(inbox.heard.map(({ id }) => id)).size).toBe(inbox.heard.length)
  })

  it('a run that nobody starts is a schedule that has not fired, but for the time in which its queue was paused', async () => {
    await place.store.queues.pause('default', { reason: '', by: 'ana' })
    await t.advance('3m')
    await t.crash()
    const { look } = node()
    // Held back on purpose.
    await look()
    expect(await alertsOf(NOT_FIRED)).toEqual([])
    await place.store.queues.resume('default')
    await watching(look, MINUTE)
    expect(await alertsOf(NOT_FIRED)).toEqual([])
    await idle(15_000)
    await look()
    expect(await alertsOf(NOT_FIRED)).toMatchObject([{ values: { because: 'not started' } }])
  })

  it('one that comes back after it was resolved is a new alert', async () => {
    const { look, send } = node()
    for (let i = 0; i < 2; i++) {
      await t.crash()
      await watching(look, 5 * MINUTE)
      await t.advance('1s')
      await look()
      await t.advance('2m')
      await look()
    }
    await send()
    await idle(10_000)
    await send()
    expect(inbox.of(NOT_FIRED).sort()).toEqual(['alert.opened', 'alert.opened', 'alert.resolved', 'alert.resolved'])
  })

  it('two processes at once make one alert and send one message of it', async () => {
    const [a, b] = [node(), node()]
    await t.crash()
    await watching(() => Promise.all([a.look(), b.look()]), 5 * MINUTE)
    await Promise.all([a.send(), b.send()])
    await Promise.all([a.send(), b.send()])
    expect(await alertsOf(NOT_FIRED)).toHaveLength(1)
    expect(inbox.of(NOT_FIRED)).toEqual(['alert.opened'])
  })

  it('a process that dies after any of its writes loses nothing and repeats nothing', async () => {
    await t.crash()
    let deaths = 0
    for (let looks = 0; looks < 30; looks++) {
      await idle(15_000)
      const dying: unknown[] = []
      const alive = await node(dyingAfter(1), (error) => dying.push(error))
        .look()
        .catch(() => false)
      if (!alive) deaths++
    }
    // A mark, an alert, a notification, and the event taken off, of two rules at least.
    expect(deaths).toBeGreaterThan(5)
    expect(await alertsOf(NOT_FIRED)).toHaveLength(1)
    await node().send()
    expect(inbox.of(NOT_FIRED)).toEqual(['alert.opened'])
  })

  it('what was sent by one who died before writing that down is sent again under the same id', async () => {
    await t.crash()
    await watching(node().look, 5 * MINUTE)
    const count = (await pendingNow()).length
    await expect(node(dyingAfter(1)).send()).rejects.toThrow('died')
    expect(inbox.heard).toHaveLength(1)
    // Somebody may be sending it just now.
    await node().send()
    expect(inbox.heard).toHaveLength(count)
    await idle(30_000)
    await node().send()
    expect(inbox.heard).toHaveLength(count + 1)
    expect(new Set(inbox.heard.map(({ id }) => id)).size).toBe(count)
  })

  it('a receiver that is away is tried again for a day, and then no more', async () => {
    const { look, send } = node()
    await t.crash()
    await watching(look, 5 * MINUTE)
    inbox.answer = { status: 503 }
    await send()
    // One failed, so the others of this channel wait.
    expect(inbox.heard).toHaveLength(1)
    const stateOf = async (state: string) =>
      (await place.store.documents.list('notification', { state, limit: 50 })).length
    for (let i = 0; i < 50; i++) {
      await idle(90 * MINUTE)
      await send()
    }
    expect(await pendingNow()).toEqual([])
    expect(await stateOf('sent')).toBe(0)
    expect(await stateOf('failed')).toBeGreaterThan(0)
  })

  it('a receiver that is back hears what it missed', async () => {
    const { look, send } = node()
    await t.crash()
    await watching(look, 5 * MINUTE)
    inbox.answer = { status: 500 }
    await send()
    inbox.answer = { status: 204 }
    await idle(15_000)
    await send()
    await idle(15_000)
    await send()
    expect(new Set(inbox.of(NOT_FIRED))).toEqual(new Set(['alert.opened']))
    expect(await pendingNow()).toEqual([])
  })

  it('many at once go as one message', async () => {
    await t.app.schedules.upsertMany(Array.from({ length: 80 }, (_, i) => ({ key: `k${i}`, every: '1m', job })))
    const { look, send } = node()
    await t.crash()
    await watching(look, 5 * MINUTE)
    await send()
    expect(await alertsOf(NOT_FIRED)).toHaveLength(51)
    const digests = inbox.heard.filter(({ body }) => body.type === 'alert.digest')
    // The planner that is gone was told of before.
    expect([digests.length, inbox.heard.length]).toEqual([1, 2])
    expect(digests[0]).toMatchObject({ signed: true })
    const { notifications } = digests[0]!.body.data as unknown as { notifications: { id: string }[] }
    expect(new Set(notifications.map(({ id }) => id)).size).toBeGreaterThan(50)
  })

  it('a channel of a workspace hears of that workspace only', async () => {
    await using other = await receiver()
    await addChannel('theirs', { kind: 'webhook', url: other.url, secret: SECRET }, 'acme')
    await t.app.schedules.upsert({ workspace: 'acme', key: 'theirs', every: '1m', job })
    const { look, send } = node()
    await t.crash()
    await watching(look, 5 * MINUTE)
    await send()
    expect(other.heard.map(({ body }) => body.data.alert.title)).toEqual(['Schedule acme/theirs has not fired'])
    expect(inbox.of(NOT_FIRED)).toHaveLength(2)
  })

  it('an alert that was acknowledged or muted by a person stays as they left it', async () => {
    const { look, send } = node()
    await t.crash()
    await watching(look, 5 * MINUTE)
    await send()
    const [{ id } = { id: '' }] = await alertsOf(NOT_FIRED)
    const { documents } = place.store
    await moveAlert(documents, id, (alert) => acknowledged(alert, { by: 'ana', at: place.clock.now() }))
    await moveAlert(documents, id, (alert) => muted(alert, place.clock.now() + 10 * MINUTE))
    await watching(look, 5 * MINUTE)
    expect(await alertsOf(NOT_FIRED)).toMatchObject([{ state: 'acknowledged', acknowledged: { by: 'ana' } }])
    await watching(look, 5 * MINUTE)
    await send()
    expect(inbox.of(NOT_FIRED)).toEqual(['alert.opened', 'alert.unmuted'])
    await moveAlert(documents, id, (alert) => muted(alert, place.clock.now() + 60 * MINUTE))
    await t.advance('1s')
    await look()
    await t.advance('3m')
    await look()
    await send()
    expect(inbox.of(NOT_FIRED)).toEqual(['alert.opened', 'alert.unmuted'])
    expect(alertOf((await documents.get('alert', id))!).alert.state).toBe('resolved')
  })

  it('a rule that was changed or switched off holds from the next look on', async () => {
    const { documents } = place.store
    const id = 'default-schedule-not-fired'
    const rule = (change: object) => ruleData(readRule({ id, workspace: '' }, { kind: NOT_FIRED, ...change }))
    const put = (change: object, from: number) =>
      documents.put({ kind: 'alert_rule', id, workspace: '', state: '', data: rule(change), from })
    await put({ settings: { grace: '10m' } }, 0)
    const { look } = node()
    await t.crash()
    await watching(look, 5 * MINUTE)
    expect(await alertsOf(NOT_FIRED)).toEqual([])
    await put({}, 1)
    await look()
    expect(await alertsOf(NOT_FIRED)).toHaveLength(1)
    await put({ enabled: false }, 2)
    await look()
    expect(await alertsOf(NOT_FIRED)).toEqual([])
  })

  it('every rule has something to complain of when it should', async () => {
    const failing = defineJob({ name: 'failing', retry: { attempts: 1 }, run: () => Promise.reject(new Error('no')) })
    await t[Symbol.asyncDispose]()
    await place.close()
    place = await open(START)
    const every = [
      { id: 'rate', kind: 'failure_rate', settings: { minimum: 1 } },
      { id: 'dead', kind: 'dead_letter_growth', settings: { count: 2 } },
    ]
    for (const { id, ...rule } of every) {
      const data = ruleData(readRule({ id, workspace: '' }, rule))
      await place.store.documents.put({ kind: 'alert_rule', id, workspace: '', state: '', data, from: 0 })
    }
    t = await startedIn(place, { jobs: [failing], schedules: [schedule({ key: 'bad', every: '1m', job: failing })] })
    await t.advance('4m')
    const lonely = { job: 'x', queue: 'lonely', trigger: 'enqueue', overlap: 'allow' } as const
    const policy = { retry: { attempts: 1, backoff: 'fixed', baseMs: 1, maxMs: 1 } } as const
    const nothing = { payload: null, schedule: null, slot: null, group: null, idempotencyKey: null }
    const id = uuidGenerator(place.clock)()
    await place.store.runs.enqueue([
      { id, workspace: 'default', priority: 5, due: { delayMs: 0 }, policy, ...lonely, ...nothing },
    ])
    await t.crash()
    await watching(node().look, 6 * MINUTE)
    const kinds = (await unresolved(place.store.documents)).map(({ alert }) => alert.kind)
    expect(new Set(kinds)).toEqual(
      new Set([
        NOT_FIRED,
        'planner_stalled',
        'run_failed',
        'no_success',
        'failed_in_a_row',
        'failure_rate',
        'dead_letter_growth',
        'queue_age',
        'no_worker',
      ]),
    )
  })
})
