import { describe, expect, it } from 'vitest'
import { parseCron } from './cron.ts'
import { every } from './interval.ts'
import { once } from './once.ts'

const at = (text: string): Date => new Date(text)

describe('an interval', () => {
  it('counts from the Unix epoch, so that a restart does not move it', () => {
    expect(every('5m').next(at('2026-11-15T21:13:46Z'))).toEqual(at('2026-11-15T21:15:00Z'))
    expect(every('7m').next(at('1970-01-01T00:00:00Z'))).toEqual(at('1970-01-01T00:07:00Z'))
  })

  it('counts from its anchor when it has one, and backwards from it too', () => {
    const timing = every('1h', { anchorAt: '2026-01-01T00:20:00Z' })
    expect(timing.next(at('2026-06-01T10:20:00Z'))).toEqual(at('2026-06-01T11:20:00Z'))
    expect(timing.prev(at('2025-06-01T10:20:00Z'))).toEqual(at('2025-06-01T09:20:00Z'))
  })

  it('answers between, count and matches like every timing', () => {
    const timing = every('10m')
    const [from, to] = [at('2026-01-01T00:00:00Z'), at('2026-01-01T01:00:00Z')]
    const walked = [...timing.between(from, to)]
    expect(walked).toHaveLength(6)
    expect(walked.at(-1)).toEqual(to)
    expect(timing.count(from, to)).toBe(6)
    expect(timing.matches(to)).toBe(true)
    expect(timing.matches(at('2026-01-01T00:05:00Z'))).toBe(false)
  })

  it('is what @every makes', () => {
    expect(parseCron('@every 1h30m')).toMatchObject({
      kind: 'interval',
      intervalMs: 5_400_000,
      expression: '@every 1h30m',
    })
  })

  it.each(['0s', '99ms', 'soon', ''])('refuses %j', (duration) => {
    expect(() => every(duration)).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }))
  })
})

describe('a single instant', () => {
  const timing = once('2027-01-04T10:00:00+01:00')
  const instant = at('2027-01-04T09:00:00Z')

  it('is next before it and previous after it', () => {
    expect(timing.next(new Date(instant.getTime() - 1))).toEqual(instant)
    expect(timing.next(instant)).toBeNull()
    expect(timing.prev(instant)).toBeNull()
    expect(timing.prev(new Date(instant.getTime() + 1))).toEqual(instant)
    expect(timing.nextMany(at('2026-01-01T00:00:00Z'), 5)).toEqual([instant])
  })

  it.each(['2027-01-04T09:00:00', 'tomorrow', '2027-13-04T09:00:00Z', '2026-02-30T00:00:00Z', ''])(
    'refuses %j, which names no instant',
    (text) => {
      expect(() => once(text)).toThrow(expect.objectContaining({ code: 'INSTANT_INVALID' }))
    },
  )
})
