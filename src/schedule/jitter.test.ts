/** Jitter: the same on every node, never early, never as far as the next occurrence. */
import { describe, expect, it } from 'vitest'
import { jitterMs } from './jitter.ts'
import type { Jitter } from './schedule.ts'

const HOUR = 3_600_000
const seeds = Array.from({ length: 500 }, (_, i) => `t_${i}/digest`)
const slot = { at: 0, nextAt: HOUR }
const fiveMinutes: Jitter = { max: { ms: 300_000 }, per: 'schedule' }
const tenPercent: Jitter = { max: { share: 0.1 }, per: 'schedule' }
const all = (jitter: Jitter, nextAt: number | null = HOUR): number[] =>
  seeds.map((seed) => jitterMs(jitter, seed, { at: 0, nextAt }))

describe('jitter', () => {
  it('is nothing where there is none', () => {
    expect(jitterMs(null, 'default/a', slot)).toBe(0)
  })

  it.each([
    ['a duration', fiveMinutes, HOUR, 300_000],
    ['a share of the time to the next occurrence', tenPercent, HOUR, 360_000],
    ['the whole of that time', { max: { share: 1 }, per: 'schedule' } as Jitter, HOUR, HOUR],
    ['a duration longer than that time', { max: { ms: 10 * HOUR }, per: 'schedule' } as Jitter, HOUR, HOUR],
    ['a duration where no occurrence follows', fiveMinutes, null, 300_000],
  ])('of %s stays below it, is a whole number, and fills the room it has', (_, jitter, nextAt, bound) => {
    const found = all(jitter, nextAt)
    for (const ms of found) {
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBeLessThan(bound)
      expect(Number.isInteger(ms)).toBe(true)
    }
    expect(Math.min(...found)).toBeLessThan(bound * 0.05)
    expect(Math.max(...found)).toBeGreaterThan(bound * 0.95)
  })

  it('of a share is nothing where no occurrence follows', () => {
    expect(new Set(all(tenPercent, null))).toEqual(new Set([0]))
  })

  it('per schedule is the same at every occurrence; per occurrence it is not', () => {
    const at = (jitter: Jitter, n: number): number =>
      jitterMs(jitter, 'default/a', { at: n * HOUR, nextAt: (n + 1) * HOUR })
    const hours = Array.from({ length: 50 }, (_, n) => n)
    expect(new Set(hours.map((n) => at(fiveMinutes, n))).size).toBe(1)
    expect(new Set(hours.map((n) => at({ ...fiveMinutes, per: 'occurrence' }, n))).size).toBeGreaterThan(45)
  })

  it('does not change from one version to the next', () => {
    expect(seeds.slice(0, 3).map((seed) => jitterMs(fiveMinutes, seed, slot))).toMatchInlineSnapshot(`
      [
        102290,
        176019,
        220992,
      ]
    `)
  })
})
