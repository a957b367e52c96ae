import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allowance, isLimited, type QueueLimits, type RateLog, spend } from './queue-limits.ts'

const ask = (limits: QueueLimits, change: Partial<Parameters<typeof allowance>[1]> = {}) =>
  allowance(limits, { wanted: 10, running: 0, log: [], now: 1000, ...change })

describe('the allowance of a queue', () => {
  it('is all that is wanted where there is no limit', () => {
    expect(ask({})).toEqual({ limit: 10, againAt: null })
    expect(isLimited({})).toBe(false)
    expect(isLimited({ perWorkspace: 1 })).toBe(true)
  })

  it('is what the global concurrency leaves over, and never less than nothing', () => {
    expect(ask({ globalConcurrency: 4 }, { running: 1 }).limit).toBe(3)
    expect(ask({ globalConcurrency: 4 }, { running: 9 }).limit).toBe(0)
  })

  it('says when the rate allows more', () => {
    const rateLimit = { count: 5, perMs: 100 }
    expect(ask({ rateLimit }, { log: [[950, 5]] })).toEqual({ limit: 0, againAt: 1050 })
    expect(ask({ rateLimit }, { log: [[950, 3]] })).toEqual({ limit: 2, againAt: 1050 })
    expect(ask({ rateLimit }, { log: [[900, 5]] })).toEqual({ limit: 5, againAt: null })
  })

  it('keeps any stretch of time within the rate, and remembers little', () => {
    const claims = fc.array(fc.record({ gap: fc.nat(40), wanted: fc.integer({ min: 0, max: 9 }) }), { maxLength: 120 })
    const rates = fc.record({ count: fc.integer({ min: 1, max: 12 }), perMs: fc.integer({ min: 1, max: 500 }) })
    fc.assert(
      fc.property(rates, claims, (rateLimit, list) => {
        let [log, now]: [RateLog, number] = [[], 0]
        const granted: number[] = []
        for (const { gap, wanted } of list) {
          now += gap
          const { limit, againAt } = allowance({ rateLimit }, { wanted, running: 0, log, now })
          if (limit < wanted) expect(againAt === null ? now + 1 : againAt).toBeGreaterThan(now)
          log = spend(log, { rateLimit }, { granted: limit, now })
          for (let i = 0; i < limit; i++) granted.push(now)
          expect(log.length).toBeLessThanOrEqual(102)
        }
        for (const [i, at] of granted.entries()) {
          const within = granted.slice(i).filter((other) => other < at + rateLimit.perMs).length
          expect(within).toBeLessThanOrEqual(rateLimit.count)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('counts a grant for the whole of its stretch, wherever in a step it fell', () => {
    const rateLimit = { count: 1, perMs: 1000 }
    const log = spend([], { rateLimit }, { granted: 1, now: 1007 })
    expect(ask({ rateLimit }, { log, now: 2006 }).limit).toBe(0)
    expect(ask({ rateLimit }, { log, now: 2027 }).limit).toBe(1)
  })

  it('loses at most a fiftieth of the rate to coarse memory', () => {
    const rateLimit = { count: 100, perMs: 1000 }
    let [log, total]: [RateLog, number] = [[], 0]
    for (let now = 0; now < 20_000; now += 7) {
      const { limit } = allowance({ rateLimit }, { wanted: 3, running: 0, log, now })
      log = spend(log, { rateLimit }, { granted: limit, now })
      total += limit
    }
    expect(total).toBeGreaterThan(20 * 100 * 0.95)
  })
})
