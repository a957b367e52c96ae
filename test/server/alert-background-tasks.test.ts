/** When the background tasks around alerts are due, and the sign of life that goes out only while they go well. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { alertingTasks } from '../../src/server/alerting/background-tasks.ts'
import type { BackgroundTask } from '../../src/server/background-tasks.ts'
import { readServerOptions } from '../../src/server/settings.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { type Receiver, receiver } from './receiver.ts'

let t: TestEverytick
let outside: Receiver
let alerter: BackgroundTask
beforeEach(async () => {
  outside = await receiver()
  t = await createTestEverytick({ now: '2027-01-01T00:00:00Z', jobs: [] })
  const settings = readServerOptions({ heartbeat: { url: outside.url, every: '1m' } })
  alerter = alertingTasks({ core: coreOf(t.app), settings }).find(({ name }) => name === 'alerter')!
})
afterEach(async () => {
  await t[Symbol.asyncDispose]()
  await outside[Symbol.asyncDispose]()
})

/** A store that counts looks at the alerts. */
function counted(store: Store): { store: Store; looks: () => number } {
  let looks = 0
  const list: Store['documents']['list'] = (kind, page) => {
    if (kind === 'alert_rule') looks++
    return store.documents.list(kind, page)
  }
  return { store: { ...store, documents: { ...store.documents, list } }, looks: () => looks }
}

describe('the alerter', () => {
  it('looks every fifteen seconds, however often its lease is renewed', async () => {
    const { store, looks } = counted(t.store)
    for (let at = 0; at <= 60; at += 5) {
      const delayMs = await alerter.pass(store)
      expect(delayMs).toBeGreaterThan(0)
      t.clock.moveBy(5000)
    }
    expect(looks()).toBe(5)
  })

  it('says that it works again when every rule can be read after some could not', async () => {
    const facts: string[] = []
    coreOf(t.app).hub.onEvent((fact) => {
      if (fact.kind === 'engine.error' || fact.kind === 'engine.recovered') facts.push(`${fact.kind} ${fact.where}`)
    })
    const away = { ...t.store, stats: { ...t.store.stats, read: () => Promise.reject(new Error('away')) } }
    await alerter.pass(away)
    expect(new Set(facts)).toEqual(new Set(['engine.error alerter']))
    t.clock.moveBy(15_000)
    await alerter.pass(t.store)
    expect(facts.at(-1)).toBe('engine.recovered alerter')
  })

  it('lets the outside hear that it is well, as often as it was told to', async () => {
    await alerter.pass(t.store)
    expect((await outside.next()).method).toBe('GET')
    t.clock.moveBy(59_000)
    await alerter.pass(t.store)
    expect(outside.heard).toHaveLength(1)
    t.clock.moveBy(1000)
    // The answer to the first one may still be on its way.
    while (outside.heard.length < 2) {
      await alerter.pass(t.store)
      await new Promise(setImmediate)
    }
  })

  it('says once that the outside answers again', async () => {
    const facts: string[] = []
    coreOf(t.app).hub.onEvent((fact) => {
      if (fact.kind === 'engine.error' || fact.kind === 'engine.recovered') facts.push(`${fact.kind} ${fact.where}`)
    })
    const beats = async (status: number, count: number): Promise<void> => {
      outside.answer = { status }
      for (const before = outside.heard.length; outside.heard.length < before + count; ) {
        await alerter.pass(t.store)
        t.clock.moveBy(60_000)
        await new Promise(setImmediate)
      }
    }
    const ofHeartbeats = (): string[] => facts.filter((fact) => fact.endsWith(' heartbeat'))
    await beats(200, 1)
    await beats(503, 2)
    await beats(200, 3)
    expect(ofHeartbeats()).toEqual(['engine.error heartbeat', 'engine.error heartbeat', 'engine.recovered heartbeat'])
  })

  it('is silent to the outside when it cannot look, so that somebody notices', async () => {
    const stats = { ...t.store.stats, read: () => Promise.reject(new Error('away')) }
    await alerter.pass({ ...t.store, stats })
    const now = () => Promise.reject(new Error('away'))
    t.clock.moveBy(60_000)
    await expect(alerter.pass({ ...t.store, now })).rejects.toThrow('away')
    // The first that is heard comes from the first look that went well.
    outside.answer = { status: 204 }
    t.clock.moveBy(60_000)
    await alerter.pass(t.store)
    await outside.next()
    expect(outside.heard).toHaveLength(1)
  })
})
