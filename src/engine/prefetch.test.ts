import { describe, expect, it } from 'vitest'
import { createPrefetch } from './prefetch.ts'

describe('prefetch', () => {
  it('starts small', () => expect(createPrefetch().size()).toBe(10))

  it('holds nothing extra for slow work, so that other workers can have it', () => {
    const prefetch = createPrefetch()
    prefetch.ended(1, 1000)
    expect(prefetch.size()).toBe(0)
  })

  it('grows with the rate at which runs end, up to a bound', () => {
    const prefetch = createPrefetch()
    prefetch.ended(100, 50)
    expect(prefetch.size()).toBe(200)
    prefetch.ended(50_000, 50)
    expect(prefetch.size()).toBe(2000)
  })

  it('trusts a rate no further than sixteen times what has shown it', () => {
    const prefetch = createPrefetch()
    prefetch.ended(60, 0.2)
    expect(prefetch.size()).toBe(960)
    prefetch.ended(200, 1)
    expect(prefetch.size()).toBe(2000)
  })

  it('shrinks by halves when the rate falls', () => {
    const prefetch = createPrefetch()
    prefetch.ended(100, 50)
    prefetch.ended(0, 50)
    expect(prefetch.size()).toBe(100)
  })

  it.each([
    ['no rate is known', null, 1, false],
    ['50 slots end 400 runs in 1 ms', [400, 1], 50, true],
    ['50 slots end 50 runs in 1 ms', [50, 1], 50, true],
    ['50 slots end 49 runs in 1 ms', [49, 1], 50, false],
    ['20 slots end 20 runs in 15 ms', [20, 15], 20, false],
  ] as const)('knows whether work is quicker than a commit when %s', (_, rate, concurrency, isQuick) => {
    const prefetch = createPrefetch()
    if (rate) prefetch.ended(rate[0], rate[1])
    expect(prefetch.isQuick(concurrency)).toBe(isQuick)
  })

  it('takes work for slow again as soon as it is', () => {
    const prefetch = createPrefetch()
    prefetch.ended(100, 0.1)
    prefetch.ended(16, 100)
    expect(prefetch.isQuick(1)).toBe(false)
  })
})
