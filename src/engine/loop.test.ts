import { describe, expect, it } from 'vitest'
import { createLoop } from './loop.ts'

/** Timers that ring only when the test says so. */
function handTimers() {
  const set: { ms: number; ring: () => void }[] = []
  return {
    set,
    timers: {
      set(ms: number, ring: () => void) {
        const timer = { ms, ring }
        set.push(timer)
        return () => void set.splice(set.indexOf(timer), set.includes(timer) ? 1 : 0)
      },
    },
    async ring() {
      set.shift()!.ring()
      await turn()
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a loop', () => {
  it('passes at once, then whenever the pass before asked for it', async () => {
    const { timers, set, ring } = handTimers()
    const delays = [500, 20]
    const loop = createLoop({ timers, pass: async () => delays.shift() ?? Number.POSITIVE_INFINITY, onError: () => {} })
    loop.start()
    await turn()
    expect(set.map(({ ms }) => ms)).toEqual([500])
    await ring()
    expect(set.map(({ ms }) => ms)).toEqual([20])
    await ring()
    expect(set).toEqual([])
  })

  it('never runs two passes at once, and turns a wake-up during a pass into one more', async () => {
    const { timers } = handTimers()
    let [now, most, passes] = [0, 0, 0]
    let end = (): void => {}
    const pass = async (): Promise<number> => {
      most = Math.max(most, ++now)
      passes++
      await new Promise<void>((resolve) => (end = resolve))
      now--
      return 1000
    }
    const loop = createLoop({ timers, pass, onError: () => {} })
    loop.start()
    loop.wake()
    loop.wake()
    end()
    await turn()
    end()
    await turn()
    expect({ most, passes }).toEqual({ most: 1, passes: 2 })
  })

  it('backs off while passes fail, is not hurried by hints then, and recovers', async () => {
    const { timers, set, ring } = handTimers()
    let broken = true
    let passes = 0
    const errors: number[] = []
    const pass = async (): Promise<number> => {
      passes++
      if (broken) throw new Error('away')
      return 1000
    }
    const loop = createLoop({ timers, pass, onError: (_, retryInMs) => errors.push(retryInMs) })
    loop.start()
    await turn()
    for (let i = 0; i < 7; i++) await ring()
    expect(errors).toEqual([50, 100, 200, 400, 800, 1600, 2000, 2000])
    loop.wake()
    await turn()
    expect(passes).toBe(8)
    broken = false
    await ring()
    expect(set.map(({ ms }) => ms)).toEqual([1000])
  })

  it('has not recovered with a pass that had nothing to do, and may be woken then', async () => {
    const { timers, ring } = handTimers()
    const said: string[] = []
    const passes = [() => Promise.reject(new Error('away')), async () => Number.POSITIVE_INFINITY, async () => 1000]
    const pass = (): Promise<number> => passes.shift()!()
    const onRecovery = (): void => void said.push(`recovered with ${passes.length} to come`)
    const loop = createLoop({ timers, pass, onError: () => said.push('failed'), onRecovery })
    loop.start()
    await turn()
    await ring()
    expect(said).toEqual(['failed'])
    loop.wake()
    await turn()
    expect(said).toEqual(['failed', 'recovered with 0 to come'])
    await loop.stop()
  })

  it('stops after the pass in flight, and may be stopped and started twice', async () => {
    const { timers, set } = handTimers()
    let passes = 0
    const loop = createLoop({ timers, pass: async () => ++passes, onError: () => {} })
    loop.start()
    loop.start()
    await Promise.all([loop.stop(), loop.stop()])
    loop.wake()
    await turn()
    expect({ passes, timers: set.length }).toEqual({ passes: 1, timers: 0 })
  })
})
