/** Exclusions: where they hold, and how far the caller may jump. */
import { describe, expect, it } from 'vitest'
import { excludedAt } from './exclusion.ts'
import type { Exclusion } from './schedule.ts'

const at = (text: string): number => Date.parse(text)
const iso = (instant: number | undefined): string | null =>
  instant === undefined ? null : new Date(instant).toISOString().replace('.000Z', 'Z')
const until = (exclusion: Exclusion, instant: string): string | null => iso(excludedAt(exclusion, at(instant))?.untilAt)

const berlin = { timezone: 'Europe/Berlin' }
const christmas: Exclusion = { kind: 'date', date: '2026-12-25', ...berlin }
const gapDay: Exclusion = { kind: 'date', date: '2027-03-28', ...berlin }
const foldDay: Exclusion = { kind: 'date', date: '2027-10-31', ...berlin }
const span: Exclusion = { kind: 'range', fromAt: at('2027-01-01T00:00:00Z'), toAt: at('2027-01-02T12:00:00Z') }
const minute: Exclusion = { kind: 'cron', cron: '30 2 * * *', ...berlin }
const hours: Exclusion = { kind: 'cron', cron: '* 0-22 * * *', timezone: 'UTC' }
const days: Exclusion = { kind: 'cron', cron: '* * 1-30 * *', timezone: 'UTC' }
const seconds: Exclusion = { kind: 'cron', cron: '0-29 * * * * *', timezone: 'UTC' }

describe('an exclusion', () => {
  it.each([
    ['a date, just before it begins on its wall', christmas, '2026-12-24T22:59:59.999Z', null],
    ['a date, as it begins', christmas, '2026-12-24T23:00:00Z', '2026-12-25T23:00:00Z'],
    ['a date, in its last millisecond', christmas, '2026-12-25T22:59:59.999Z', '2026-12-25T23:00:00Z'],
    ['a date, when it has ended', christmas, '2026-12-25T23:00:00Z', null],
    ['a day of 23 hours', gapDay, '2027-03-27T23:00:00Z', '2027-03-28T22:00:00Z'],
    ['a day of 25 hours', foldDay, '2027-10-30T22:00:00Z', '2027-10-31T23:00:00Z'],
    ['a range, before it', span, '2026-12-31T23:59:59.999Z', null],
    ['a range, at its first instant', span, '2027-01-01T00:00:00Z', '2027-01-02T12:00:00Z'],
    ['a range, at its end, which is not part of it', span, '2027-01-02T12:00:00Z', null],
    ['an expression, inside the minute it names', minute, '2027-01-01T01:30:59.999Z', '2027-01-01T01:31:00Z'],
    ['an expression, a minute later', minute, '2027-01-01T01:31:00Z', null],
    ['the first of two equal wall times', minute, '2027-10-31T00:30:00Z', '2027-10-31T00:31:00Z'],
    ['the second of two equal wall times', minute, '2027-10-31T01:30:00Z', '2027-10-31T01:31:00Z'],
    ['many minutes in a row', hours, '2027-01-01T05:00:30Z', '2027-01-01T23:00:00Z'],
    ['thirty days of minutes', days, '2027-01-01T00:00:00Z', '2027-01-31T00:00:00Z'],
    ['an expression with seconds, inside', seconds, '2027-01-01T00:00:29.500Z', '2027-01-01T00:00:30Z'],
    ['an expression with seconds, outside', seconds, '2027-01-01T00:00:30Z', null],
  ])('of %s', (_, exclusion, instant, end) => {
    expect(until(exclusion, instant)).toBe(end)
  })

  it('says which one it is, in the words it was given in', () => {
    expect(excludedAt(christmas, at('2026-12-25T12:00:00Z'))!.detail).toBe('2026-12-25')
    expect(excludedAt(minute, at('2027-01-01T01:30:00Z'))!.detail).toBe('30 2 * * *')
    expect(excludedAt(span, at('2027-01-01T00:00:00Z'))!.detail).toBe(
      '2027-01-01T00:00:00.000Z/2027-01-02T12:00:00.000Z',
    )
  })

  it('never lets the caller jump over an instant at which it does not hold', () => {
    const [from, to] = [at('2027-03-27T00:00:00Z'), at('2027-03-29T00:00:00Z')]
    for (const exclusion of [christmas, gapDay, span, minute, hours, seconds, { ...minute, cron: '*/7 1-3 * * *' }]) {
      for (let instant = from; instant < to; instant += 30_000) {
        const found = excludedAt(exclusion as Exclusion, instant)
        if (!found) continue
        expect(found.untilAt).toBeGreaterThan(instant)
        for (let inside = instant; inside < Math.min(found.untilAt, to); inside += 3_570_000)
          expect(excludedAt(exclusion as Exclusion, inside)).not.toBeNull()
        instant = Math.max(instant, found.untilAt - 30_000)
      }
    }
  })
})
