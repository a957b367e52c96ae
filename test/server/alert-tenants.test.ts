/** Alerting between workspaces, on both stores: whatever one workspace adds, breaks or leaves hanging, the alerts and messages of the others and of the fleet go out. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/index.ts'
import type { Logger } from '../../src/observe/logger.ts'
import { readRule } from '../../src/observe/read-alert-rule.ts'
import { createAlerter } from '../../src/server/alerting/alerter.ts'
import { openAlert, unresolved } from '../../src/server/alerting/alerts.ts'
import { type ChannelConfig, dataOf } from '../../src/server/alerting/channel.ts'
import { createMemory } from '../../src/server/alerting/memory.ts'
import { writeNotification } from '../../src/server/alerting/notifications.ts'
import { createNotifier } from '../../src/server/alerting/notifier.ts'
import { ruleData } from '../../src/server/alerting/rules.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { uuidGenerator } from '../../src/uuid.ts'
import { PLACES, type Place } from '../policies/places.ts'
import { type Receiver, receiver, SECRET } from './receiver.ts'

const START = Date.parse('2027-01-01T00:00:30Z')
const NOT_FIRED = 'schedule_not_fired' as const
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const job = defineJob({ name: 'job', run: () => {} })

let place: Place
let t: TestEverytick
let inbox: Receiver

beforeEach(async () => {
  inbox = await receiver()
})
afterEach(async () => {
  await t[Symbol.asyncDispose]()
  await place.close()
  await inbox[Symbol.asyncDispose]()
})

function node(store: Store = place.store) {
  const { clock } = place
  const memory = createMemory()
  const onError = (): void => {}
  const alerter = createAlerter({ store, clock, node: 'node', newId: uuidGenerator(clock), onError, memory })
  const voice = { clock, logger: silent, allowPrivate: true }
  const notifier = createNotifier({ store, voice, random: () => 0.5 })
  return { look: () => alerter.pass(), send: () => notifier.pass() }
}

async function idle(ms: number): Promise<void> {
  const at = place.clock.now() + ms
  await place.moved?.(at)
  place.clock.moveTo(at)
}

async function watching(look: () => Promise<unknown>, looks: number): Promise<void> {
  for (let i = 0; i < looks; i++) {
    await idle(15_000)
    await look()
  }
}

async function addChannel(id: string, url: string, workspace: string): Promise<void> {
  const config: ChannelConfig = { kind: 'webhook', url, secret: SECRET }
  const data = dataOf({ id, workspace, name: id, enabled: true, config })
  await place.store.documents.put({ kind: 'channel', id, workspace, state: '', data, from: 0 })
}

const newAlert = (workspace: string, subject: string) => ({
  ...{ ruleId: 'default-schedule-not-fired', kind: NOT_FIRED, severity: 'critical' as const, workspace, subject },
  ...{ title: `${workspace} ${subject}`, values: {}, openedAt: START },
})

/** Pending messages about alerts of a workspace, for one channel. */
async function pend(channelId: string, { workspace, count }: { workspace: string; count: number }): Promise<void> {
  for (let i = 0; i < count; i++) {
    const id = `${workspace} ${String(i).padStart(5, '0')} ${channelId}`
    const alert = { ...newAlert(workspace, `s${i}`), id, state: 'open' as const }
    const message = { id, event: 'opened' as const, at: START, alert }
    const notification = { channelId, message, attempts: 0, nextAt: START, digest: null, error: null }
    await writeNotification(place.store.documents, { id, workspace, version: 0, notification }, 'pending')
  }
}

/** Takes requests and answers none. */
async function hanging(): Promise<AsyncDisposable & { readonly url: string; readonly count: () => number }> {
  let count = 0
  const server = createServer(() => void count++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    count: () => count,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const titles = (): string => inbox.heard.map(({ text }) => text).join('\n')

describe.each(Object.entries(PLACES))('on %s', (_, open) => {
  beforeEach(async () => {
    place = await open(START)
    t = await startedIn(place, { jobs: [job] })
  })

  it('a thousand channels of one workspace hide none of another', async () => {
    await addChannel('0-fleet', inbox.url, '')
    await addChannel('0-theirs', `${inbox.url}/theirs`, 'victim')
    for (let i = 0; i < 1000; i++) await addChannel(`evil-${i}`, 'http://192.0.2.1/', 'evil')
    await openAlert(place.store.documents, newAlert('victim', 'schedule s'), uuidGenerator(place.clock))
    const { look, send } = node()
    await look()
    await send()
    expect(inbox.heard.map(({ path }) => path).sort()).toEqual(['/hook', '/hook/theirs'])
  })

  it('thousands of pending messages of one workspace hide none of another, nor of the fleet', async () => {
    await addChannel('fleet', inbox.url, '')
    await addChannel('theirs', `${inbox.url}/theirs`, 'victim')
    await addChannel('evil', 'http://192.0.2.1/', 'evil')
    await pend('fleet', { workspace: 'aaa', count: 1 })
    await pend('theirs', { workspace: 'aaa', count: 1 })
    await pend('evil', { workspace: 'evil', count: 2100 })
    await node().send()
    expect(inbox.heard.map(({ path }) => path).sort()).toEqual(['/hook', '/hook/theirs'])
  })

  it('a flood about one workspace leaves the first message about another in the first digest of the fleet', async () => {
    await addChannel('fleet', inbox.url, '')
    await pend('fleet', { workspace: 'evil', count: 300 })
    await pend('fleet', { workspace: 'victim', count: 1 })
    await node().send()
    expect(inbox.heard[0]!.text).toContain('victim s0')
  })

  it('channels that hang keep those of others waiting neither in this pass nor in the next', async () => {
    await using silence = await hanging()
    for (let i = 0; i < 40; i++) {
      await addChannel(`a-evil-${i}`, silence.url, 'evil')
      await pend(`a-evil-${i}`, { workspace: 'evil', count: 1 })
    }
    await addChannel('fleet', inbox.url, '')
    await pend('fleet', { workspace: 'victim', count: 1 })
    const { send } = node()
    const beganAt = performance.now()
    await send()
    expect(titles()).toContain('victim s0')
    await addChannel('theirs', `${inbox.url}/theirs`, 'victim')
    await pend('theirs', { workspace: 'victim', count: 1 })
    await send()
    expect(inbox.heard.map(({ path }) => path).sort()).toEqual(['/hook', '/hook/theirs'])
    // A hanging channel is given up after ten seconds.
    expect(performance.now() - beganAt).toBeLessThan(9000)
    expect(silence.count()).toBeLessThanOrEqual(4)
  })

  it('a hundred late schedules of one workspace leave room for the alert about another', async () => {
    const late = Array.from({ length: 300 }, (_, i) => ({ workspace: 'evil', key: `k${i}`, every: '1m', job }))
    await t.app.schedules.upsertMany([...late, { workspace: 'victim', key: 'theirs', every: '1m', job }])
    const { look } = node()
    await t.crash()
    await watching(look, 14)
    const alerts = (await unresolved(place.store.documents)).map(({ alert }) => alert)
    const ofVictim = alerts.filter(({ workspace, kind }) => workspace === 'victim' && kind === NOT_FIRED)
    expect(ofVictim.map(({ title }) => title)).toEqual(['Schedule victim/theirs has not fired'])
  })

  it('queues that one workspace names leave room for the alert about a queue of another', async () => {
    const policy = { retry: { attempts: 1, backoff: 'fixed', baseMs: 1, maxMs: 1 } } as const
    const nothing = { payload: null, schedule: null, slot: null, group: null, idempotencyKey: null }
    const newId = uuidGenerator(place.clock)
    const enqueued = (workspace: string, queue: string) => ({
      ...({ job: 'job', priority: 5, due: { delayMs: 0 }, overlap: 'allow', trigger: 'enqueue' } as const),
      ...{ ...nothing, policy, id: newId(), workspace, queue },
    })
    const flood = Array.from({ length: 200 }, (_, i) => enqueued('evil', `aaa-${i}`))
    await place.store.runs.enqueue([...flood, enqueued('victim', 'zz-theirs')])
    const { look } = node()
    await t.crash()
    await watching(look, 8)
    const alerts = (await unresolved(place.store.documents)).map(({ alert }) => alert)
    const queues = alerts.filter(({ kind }) => kind === 'no_worker').map(({ subject }) => subject)
    expect(queues).toContain('queue zz-theirs')
    expect(queues).toContain('more evil')
    expect(queues).toHaveLength(52)
  })

  it('what takes long in another workspace neither shapes nor shows in the alert about a run', async () => {
    const run = {
      job: 'job',
      queue: 'slow',
      priority: 5,
      due: { delayMs: 0 },
      overlap: 'allow',
      trigger: 'enqueue',
    } as const
    const policy = { retry: { attempts: 1, backoff: 'fixed', baseMs: 1, maxMs: 1 } } as const
    const nothing = { payload: null, schedule: null, slot: null, group: null, idempotencyKey: null }
    const newId = uuidGenerator(place.clock)
    const claim = async (workspace: string, count: number) => {
      await place.store.runs.enqueue(
        Array.from({ length: count }, () => ({ ...run, ...nothing, policy, id: newId(), workspace })),
      )
      const wanted = [{ queue: 'slow', limit: count }]
      return (await place.store.claims.claim({ workerId: 'w', leaseMs: 3_600_000, wanted })).runs
    }
    const ended = async (workspace: string, tookMs: number): Promise<void> => {
      const runs = await claim(workspace, 20)
      await idle(tookMs)
      const verdict = { kind: 'final', state: 'succeeded', result: null } as const
      await place.store.claims.settle(
        runs.map(({ id, fence, claimId }) => ({ id, fence, claimId, workerId: 'w', verdict, progress: null })),
      )
    }
    await ended('slow', 300_000)
    await ended('victim', 30_000)
    const [leased] = await claim('victim', 1)
    await place.store.claims.renew(3_600_000, [{ ...leased!, progress: null }])
    await idle(100_000)
    await node().look()
    const alerts = (await unresolved(place.store.documents)).map(({ alert }) => alert)
    expect(alerts.filter(({ kind }) => kind === 'run_too_long').map(({ title }) => title)).toEqual([
      'A run of job job takes longer than 1m30s',
    ])
  })

  it('slow rules of one workspace leave the rule of another its turn', async () => {
    const rule = async (id: string, workspace: string): Promise<void> => {
      const data = ruleData(readRule({ id, workspace }, { kind: 'missed' }))
      await place.store.documents.put({ kind: 'alert_rule', id, workspace, state: '', data, from: 0 })
    }
    for (let i = 0; i < 40; i++) await rule(`z-evil-${i}`, 'evil')
    await rule('theirs', 'victim')
    const seen: string[] = []
    const read: Store['stats']['read'] = async (scope, span) => {
      seen.push(scope)
      if (scope === 'workspace:evil') throw new Error('poisoned')
      return place.store.stats.read(scope, span)
    }
    // Each look at a rule of the one takes a second, as its facts are read again when that failed.
    const slow: Store = {
      ...place.store,
      stats: { ...place.store.stats, read },
      documents: place.store.documents,
    }
    const elapsed = (): number => seen.filter((scope) => scope === 'workspace:evil').length * 1000
    const clock = { now: () => place.clock.now(), elapsed }
    const memory = createMemory()
    const options = { store: slow, clock, node: 'node', newId: uuidGenerator(place.clock), onError: () => {}, memory }
    const passed = await createAlerter(options).pass()
    expect(seen).toContain('workspace:victim')
    // The sign of life of the fleet does not hang on it.
    expect(passed).toEqual({ fleet: true, all: false })
    expect(memory.turns.size).toBeLessThan(10)
  })

  it('alerts of one workspace that take long to tell do not keep the next look waiting, and are told in time', async () => {
    const { documents } = place.store
    for (let i = 0; i < 5; i++) await addChannel(`evil-${i}`, 'http://192.0.2.1/', 'evil')
    await addChannel('fleet', inbox.url, '')
    for (let i = 0; i < 10; i++)
      await openAlert(documents, newAlert('evil', `schedule ${i}`), uuidGenerator(place.clock))
    await openAlert(documents, newAlert('victim', 'schedule s'), uuidGenerator(place.clock))
    let written = 0
    const put: Store['documents']['put'] = (document) => {
      if (document.kind === 'notification') written++
      return documents.put(document)
    }
    // Each notification takes half a second to write.
    const clock = { now: () => place.clock.now(), elapsed: () => written * 500 }
    const options = {
      clock,
      node: 'node',
      newId: uuidGenerator(place.clock),
      onError: () => {},
      memory: createMemory(),
    }
    const alerter = createAlerter({ ...options, store: { ...place.store, documents: { ...documents, put } } })
    const toldOf = async (workspace: string): Promise<number> =>
      (await documents.list('notification', { workspace, limit: 200 })).length
    await alerter.pass()
    expect([await toldOf('victim'), await toldOf('evil')]).toEqual([1, 6])
    for (let i = 0; i < 9; i++) await alerter.pass()
    expect(await toldOf('evil')).toBe(60)
  })
})
