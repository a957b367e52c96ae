/** Hosts: who may call, who waits for the one that tries, who is sent away, and what is remembered. */
import { describe, expect, it } from 'vitest'
import { EverytickError } from '../../errors.ts'
import { BACKOFF_MS, OPENS_AFTER } from './breaker.ts'
import { createHosts, type Entrance, type Visit } from './hosts.ts'

const signal = new AbortController().signal
const ORIGIN = 'https://example.com'

function stage() {
  const clock = { at: 0, now: () => 0, elapsed: () => clock.at }
  const alarms = new Set<{ at: number; ring: () => void }>()
  const timers = {
    set(ms: number, ring: () => void) {
      const alarm = { at: clock.at + ms, ring }
      alarms.add(alarm)
      return () => void alarms.delete(alarm)
    },
  }
  const hosts = createHosts(clock, timers)
  const ask = (visit: Partial<Visit> = {}, origin = ORIGIN): Promise<Entrance> =>
    hosts.enter(origin, { workspace: 'one', maxPerHost: 50, waits: false, signal, ...visit })
  const enter = async (visit: Partial<Visit> = {}, origin = ORIGIN) => {
    const entrance = await ask(visit, origin)
    return entrance.kind === 'entered' ? entrance.leave : expect.fail('it rests')
  }
  const failing = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) (await enter())('unwell')
  }
  const pass = (ms: number): void => {
    clock.at += ms
    for (const { at, ring } of [...alarms]) if (at <= clock.at) ring()
  }
  return { clock, alarms, hosts, ask, enter, failing, pass }
}

/** Whatever can happen without time passing has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const timedOut = new EverytickError('RUN_TIMEOUT', 'it took too long')

describe('a host', () => {
  it('that failed too often is not called, and says for how long', async () => {
    const { ask, enter, failing, pass } = stage()
    await failing(OPENS_AFTER)
    pass(4000)
    expect(await ask()).toEqual({ kind: 'resting', forMs: BACKOFF_MS - 4000 })
    await enter({}, 'https://other.example.com')
  })

  it('that failed for one workspace is still called by the others', async () => {
    const { ask, enter, failing } = stage()
    await failing(OPENS_AFTER)
    expect(await ask({ workspace: 'one' })).toMatchObject({ kind: 'resting' })
    const leave = await enter({ workspace: 'other' })
    leave('well')
    expect(await ask({ workspace: 'one' })).toMatchObject({ kind: 'resting' })
  })

  it('has room for so many of all workspaces together', async () => {
    const { ask, enter } = stage()
    const leave = await enter({ workspace: 'one', maxPerHost: 1 })
    let isIn = false
    const other = ask({ workspace: 'other', maxPerHost: 1 }).then(() => {
      isIn = true
    })
    await settled()
    expect(isIn).toBe(false)
    leave('well')
    await other
  })

  it('is tried by one after its rest, and by all when that went well', async () => {
    const { enter, failing, pass } = stage()
    await failing(OPENS_AFTER)
    pass(BACKOFF_MS)
    const leave = await enter()
    const others = [enter(), enter()]
    await settled()
    leave('well')
    for (const left of await Promise.all(others)) left('well')
  })

  it('rests again for those who waited when the try failed', async () => {
    const { ask, enter, failing, pass } = stage()
    await failing(OPENS_AFTER)
    pass(BACKOFF_MS)
    const leave = await enter()
    const other = ask()
    await settled()
    leave('unwell')
    expect(await other).toEqual({ kind: 'resting', forMs: BACKOFF_MS })
  })

  it('is called after its rest by whoever waits there for that', async () => {
    const { enter, failing, pass, alarms, hosts } = stage()
    await failing(OPENS_AFTER)
    const waiting = enter({ waits: true })
    await settled()
    pass(BACKOFF_MS)
    const leave = await waiting
    leave('well')
    expect([alarms.size, hosts.size]).toEqual([0, 0])
  })

  it('is not held up for others by those who wait for it to get well', async () => {
    const { ask, enter, failing } = stage()
    await failing(OPENS_AFTER)
    void ask({ waits: true, maxPerHost: 1 })
    await settled()
    const leave = await enter({ workspace: 'other', maxPerHost: 1 })
    leave('well')
  })

  it.each([
    ['while it rests', false],
    ['while one call tries', true],
  ])('sends away whoever waited %s until the time was up, and says for how long it rests', async (_, tries) => {
    const { ask, enter, failing, pass, alarms } = stage()
    await failing(OPENS_AFTER)
    if (tries) {
      pass(BACKOFF_MS)
      await enter()
    }
    const stop = new AbortController()
    const waiting = ask({ waits: true, signal: stop.signal })
    await settled()
    if (!tries) pass(3000)
    stop.abort(timedOut)
    expect(await waiting).toEqual({ kind: 'resting', forMs: tries ? 0 : BACKOFF_MS - 3000 })
    expect(alarms.size).toBe(0)
  })

  it('lets go of those who were told to stop while they waited for the try', async () => {
    const { ask, enter, failing, pass } = stage()
    await failing(OPENS_AFTER)
    pass(BACKOFF_MS)
    const leave = await enter()
    const stop = new AbortController()
    const waiting = ask({ signal: stop.signal })
    await settled()
    stop.abort(new Error('cancelled'))
    await expect(waiting).rejects.toThrow('cancelled')
    leave('well')
  })

  it('is forgotten when it is well and nobody is there', async () => {
    const { hosts, enter } = stage()
    const [one, other] = [await enter(), await enter()]
    one('well')
    expect(hosts.size).toBe(1)
    other('well')
    expect(hosts.size).toBe(0)
  })

  it('that fails is remembered, but not without bound', async () => {
    const { hosts, enter } = stage()
    for (let i = 0; i < 10_050; i++) (await enter({}, `https://${i}.example.com`))('unwell')
    expect(hosts.size).toBe(10_000)
  })
})
