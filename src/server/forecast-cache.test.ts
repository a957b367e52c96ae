import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { inSteps } from '../time/in-steps.ts'
import { createForecastCache } from './forecast-cache.ts'

/** Work that ends when the test says so. */
function work() {
  const begun: { readonly end: (value: string) => void; readonly fail: (error: Error) => void }[] = []
  const compute = () => new Promise<string>((end, fail) => begun.push({ end, fail }))
  return { begun, compute }
}
const turn = () => new Promise(setImmediate)

describe('kept answers', () => {
  it('are computed once for all who ask at the same time, and kept for a minute', async () => {
    const clock = fakeClock(1000)
    const cache = createForecastCache(clock)
    const { begun, compute } = work()
    const asked = [cache.get('a', compute), cache.get('a', compute)]
    await turn()
    begun[0]!.end('one')
    expect(await Promise.all(asked)).toEqual(Array(2).fill({ asOf: 1000, value: 'one' }))
    clock.moveBy(59_999)
    expect(await cache.get('a', compute)).toEqual({ asOf: 1000, value: 'one' })
    expect(begun).toHaveLength(1)
  })

  it('are given after a minute too, while the next is computed in the background', async () => {
    const clock = fakeClock(0)
    const cache = createForecastCache(clock)
    const { begun, compute } = work()
    const first = cache.get('a', compute)
    await turn()
    begun[0]!.end('old')
    await first
    clock.moveBy(60_000)
    expect((await cache.get('a', compute)).value).toBe('old')
    await turn()
    begun[1]!.end('new')
    await turn()
    expect(await cache.get('a', compute)).toEqual({ asOf: 60_000, value: 'new' })
  })

  it('are waited for again when the old one is of no use any more', async () => {
    const clock = fakeClock(0)
    const cache = createForecastCache(clock)
    await cache.get('a', async () => 'old')
    clock.moveBy(600_000)
    expect((await cache.get('a', async () => 'new')).value).toBe('new')
  })

  it('are computed one at a time', async () => {
    const cache = createForecastCache(fakeClock(0))
    const { begun, compute } = work()
    const asked = [cache.get('a', compute), cache.get('b', compute)]
    await turn()
    expect(begun).toHaveLength(1)
    begun[0]!.end('a')
    await turn()
    expect(begun).toHaveLength(2)
    begun[1]!.end('b')
    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual(['a', 'b'])
  })

  it('are computed again after a failure, which holds up nobody else', async () => {
    const cache = createForecastCache(fakeClock(0))
    const failing = cache.get('a', async () => {
      throw new Error('the database is away')
    })
    const other = cache.get('b', async () => 'b')
    await expect(failing).rejects.toThrow('away')
    expect((await other).value).toBe('b')
    expect((await cache.get('a', async () => 'a')).value).toBe('a')
  })

  it('are refused to an owner who waits for many, while the next owner still has a place', async () => {
    const cache = createForecastCache(fakeClock(0))
    const { compute } = work()
    const ask = (owner: string, name: string) => cache.get(`${owner} ${name}`, compute, owner)
    for (let i = 0; i < 5; i++) void ask('a', String(i))
    await expect(ask('a', 'more')).rejects.toMatchObject({ code: 'CONCURRENCY_LIMITED' })
    for (const owner of ['b', 'c', 'd', 'e']) void ask(owner, 'one')
    await expect(Promise.race([ask('f', 'one'), turn().then(() => 'waits')])).resolves.toBe('waits')
  })

  it('are forgotten, the oldest first, when there are too many', async () => {
    const cache = createForecastCache(fakeClock(0))
    for (let i = 0; i <= 50; i++) await cache.get(String(i), async () => i)
    expect((await cache.get('50', async () => 'anew')).value).toBe(50)
    expect((await cache.get('0', async () => 'anew')).value).toBe('anew')
  })

  it('of one owner are not pushed out by the many of another', async () => {
    const cache = createForecastCache(fakeClock(0))
    await cache.get('victim', async () => 'kept', 'b')
    for (let i = 0; i <= 60; i++) await cache.get(String(i), async () => i, 'a')
    expect((await cache.get('victim', async () => 'anew', 'b')).value).toBe('kept')
  })
})

describe('work in steps', () => {
  it('lets others work in between, and answers what it ends with', async () => {
    let turns = 0
    let going = true
    const count = (): void => {
      turns++
      if (going) setImmediate(count)
    }
    setImmediate(count)
    const steps = (function* () {
      for (let i = 0; i < 1000; i++) yield
      return 'done'
    })()
    expect(await inSteps(steps, fakeClock(0))).toBe('done')
    going = false
    expect(turns).toBeGreaterThan(1)
  })
})
