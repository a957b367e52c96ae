/** Several timings as one: every occurrence of each, none of them twice. */
import { describe, expect, it } from 'vitest'
import { Any } from './any.ts'
import { parseCron } from './cron.ts'
import { every } from './interval.ts'
import { once } from './once.ts'
import type { Timing } from './timing.ts'

const at = (text: string): Date => new Date(text)
const from = at('2027-01-04T00:00:00Z')
const to = at('2027-01-06T00:00:00Z')
const rules: readonly Timing[] = [
  parseCron('0 9 * * *', { timezone: 'Europe/Berlin' }),
  parseCron('0 8-10 * * *', { timezone: 'UTC' }),
  once('2027-01-05T12:34:56Z'),
]

/** Counts how often a rule is searched. */
function counted(timing: Timing): { timing: Timing; searches: () => number } {
  let searches = 0
  const watched = new Proxy(timing, {
    get(target, name) {
      if (name === 'nextAt' || name === 'prevAt') searches++
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { timing: watched, searches: () => searches }
}

describe('any', () => {
  const any = new Any(rules)

  it('searches a rule that seldom fires once, and not for each occurrence of a dense one', () => {
    const rare = counted(parseCron('0 3 29 2 2', { timezone: 'Europe/Berlin' }))
    const both = new Any([every('1s'), rare.timing])
    let next = from.getTime()
    for (let i = 0; i < 1000; i++) next = both.nextAt(next)!
    let prev = to.getTime()
    for (let i = 0; i < 1000; i++) prev = both.prevAt(prev)!
    expect([next - from.getTime(), to.getTime() - prev]).toEqual([1_000_000, 1_000_000])
    expect(rare.searches()).toBe(2)
  })

  it('has the occurrences of each in order, and one where two fall together', () => {
    const walked = [...any.between(from, to)].map((instant) => instant.toISOString().slice(5, 19))
    expect(walked).toEqual([
      ...['01-04T08:00:00', '01-04T09:00:00', '01-04T10:00:00'],
      ...['01-05T08:00:00', '01-05T09:00:00', '01-05T10:00:00', '01-05T12:34:56'],
    ])
  })

  it('counts and looks back as it walks forward', () => {
    for (const of of [rules, [every('7m'), every('5m')], [every('1h')], [rules[2]!]]) {
      const timing = new Any(of)
      const walked = [...timing.between(from, to)]
      expect(timing.count(from, to)).toBe(walked.length)
      const back: Date[] = []
      for (let last = timing.prev(new Date(to.getTime() + 1)); last && last > from; last = timing.prev(last))
        back.unshift(last)
      expect(back).toEqual(walked)
    }
  })

  it('ends when the last of them has', () => {
    const timing = new Any([once('2027-01-05T00:00:00Z'), once('2027-01-04T00:00:00Z')])
    expect(timing.nextMany(at('2026-01-01T00:00:00Z'), 5)).toHaveLength(2)
    expect(timing.next(at('2027-01-05T00:00:00Z'))).toBeNull()
    expect(timing.prev(at('2027-01-04T00:00:00Z'))).toBeNull()
  })

  it('names all of them, and each zone once', () => {
    expect(any.expression).toBe('0 9 * * * | 0 8-10 * * * | 2027-01-05T12:34:56.000Z')
    expect(any.timezone).toBe('Europe/Berlin, UTC')
    expect(new Any([every('5m'), rules[2]!]).describe()).toBe('Every 5m. And: Once, at 2027-01-05T12:34:56.000Z.')
  })
})
