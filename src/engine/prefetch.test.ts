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
})
