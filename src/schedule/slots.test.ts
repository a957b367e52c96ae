/** Occurrences within their bounds: which there are, which of them may run, and why the others may not. */
import { describe, expect, it } from 'vitest'
import type { Exclusion, TimingSpec } from './schedule.ts'
import { nextRunAt } from './search.ts'
import { slotsOf } from './slots.ts'

const at = (text: string): number => Date.parse(text)
type Bounds = Pick<TimingSpec, 'startAt' | 'endAt' | 'exclude'>
const DAY = 86_400_000
const daily = { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' } as const
const date = (text: string): Exclusion => ({ kind: 'date', date: text, timezone: 'UTC' })
const slots = (spec: TimingSpec): ReturnType<typeof slotsOf> => slotsOf(spec, 'default/a')

/** The days of January 2027 on which there is an occurrence, and whether it may run. */
function january(spec: TimingSpec): string {
  const found = slots(spec)
  let text = ''
  for (let day = at('2027-01-01T00:00:00Z'); day < at('2027-01-11T00:00:00Z'); day += DAY) {
    const next = found.nextAt(day)
    if (next === null || next >= day + DAY) text += '.'
    else text += { before_start: 's', excluded: 'x', dst_gap: 'g', none: 'r' }[found.whyNot(next)?.reason ?? 'none']
  }
  return text
}

describe('the bounds of a timing', () => {
  it.each<[string, Bounds, string]>([
    ['none', {}, 'rrrrrrrrrr'],
    ['a start between two occurrences', { startAt: at('2027-01-03T12:00:00Z') }, 'sssrrrrrrr'],
    ['a start at an occurrence, which runs', { startAt: at('2027-01-03T09:00:00Z') }, 'ssrrrrrrrr'],
    ['an end at an occurrence, which is the last', { endAt: at('2027-01-03T09:00:00Z') }, 'rrr.......'],
    ['an end just before one', { endAt: at('2027-01-03T08:59:59.999Z') }, 'rr........'],
    ['dates left out', { exclude: [date('2027-01-02'), date('2027-01-05')] }, 'rxrrxrrrrr'],
    ['a range left out', range('2027-01-02T00:00:00Z', '2027-01-05T09:00:00Z'), 'rxxxrrrrrr'],
    ['weekends left out', { exclude: [{ kind: 'cron', cron: '* * * * SAT,SUN', timezone: 'UTC' }] }, 'rxxrrrrrxx'],
    [
      'all of them at once',
      { startAt: at('2027-01-02T00:00:00Z'), endAt: at('2027-01-08T00:00:00Z'), exclude: [date('2027-01-04')] },
      'srrxrrr...',
    ],
  ])('as %s', (_, bounds, days) => {
    expect(january({ ...daily, ...bounds })).toBe(days)
  })

  it('do not change which occurrences there are, except for the end', () => {
    const bounded = slots({ ...daily, startAt: at('2027-01-04T00:00:00Z'), exclude: [date('2027-01-05')] })
    expect(bounded.countAt(at('2027-01-01T00:00:00Z'), at('2027-01-11T00:00:00Z'))).toBe(10)
    const ended = slots({ ...daily, endAt: at('2027-01-04T00:00:00Z') })
    expect(ended.countAt(at('2027-01-01T00:00:00Z'), at('2027-01-11T00:00:00Z'))).toBe(3)
    expect(ended.countAt(at('2027-01-05T00:00:00Z'), at('2027-01-11T00:00:00Z'))).toBe(0)
    expect(ended.prevAt(at('2028-01-01T00:00:00Z'))).toBe(at('2027-01-03T09:00:00Z'))
    expect(ended.nextAt(at('2027-01-03T09:00:00Z'))).toBeNull()
  })

  it('say until when a reason holds', () => {
    const found = slots({ ...daily, startAt: at('2027-01-04T00:00:00Z'), exclude: [date('2027-01-05')] })
    expect(found.whyNot(at('2027-01-01T09:00:00Z'))).toEqual({
      reason: 'before_start',
      detail: '2027-01-04T00:00:00.000Z',
      untilAt: at('2027-01-04T00:00:00Z'),
    })
    expect(found.whyNot(at('2027-01-05T09:00:00Z'))).toEqual({
      reason: 'excluded',
      detail: '2027-01-05',
      untilAt: at('2027-01-06T00:00:00Z'),
    })
  })
})

describe('the next run', () => {
  it('is the first occurrence that nothing keeps from running', () => {
    const exclude = [date('2027-01-04'), date('2027-01-05')]
    const found = slots({ ...daily, startAt: at('2027-01-03T12:00:00Z'), exclude })
    expect(nextRunAt(found, at('2026-01-01T00:00:00Z'))).toBe(at('2027-01-06T09:00:00Z'))
    expect(nextRunAt(found, at('2027-01-06T09:00:00Z'))).toBe(at('2027-01-07T09:00:00Z'))
  })

  it('is found behind a month of excluded minutes', () => {
    const exclude = [{ kind: 'cron', cron: '* * 1-30 * *', timezone: 'UTC' } as const]
    const found = slots({ kind: 'interval', everyMs: 1000, anchorAt: 0, exclude })
    expect(nextRunAt(found, at('2027-01-01T00:00:00Z'))).toBe(at('2027-01-31T00:00:00Z'))
  })

  it('is none where everything is excluded', () => {
    const exclude = [{ kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' } as const]
    expect(
      nextRunAt(slots({ ...daily, endAt: at('2030-01-01T00:00:00Z'), exclude }), at('2024-01-01T00:00:00Z')),
    ).toBeNull()
  })
})

describe('a clock change that skips an occurrence', () => {
  const nightly = { kind: 'cron', cron: '30 2 * * *', timezone: 'Europe/Berlin' } as const
  const gapAt = at('2027-03-28T01:00:00Z')

  it('leaves an occurrence that does not run, at the first instant after the gap', () => {
    const found = slots({ ...nightly, dst: { gap: 'skip' } })
    expect(found.nextAt(gapAt - 1)).toBe(gapAt)
    expect(found.whyNot(gapAt)).toMatchObject({ reason: 'dst_gap', detail: 'Europe/Berlin' })
    expect(nextRunAt(found, gapAt - 1)).toBe(at('2027-03-29T00:30:00Z'))
    expect(found.countAt(gapAt - 3_600_000, gapAt)).toBe(1)
  })

  it('is on record for starred minutes of a named hour too', () => {
    const starred = { ...nightly, cron: '*/30 2 * * *' } as const
    expect(nextRunAt(slots(starred), gapAt - 1)).toBe(gapAt)
    const skipping = slots({ ...starred, dst: { gap: 'skip' } })
    expect(skipping.whyNot(gapAt)).toMatchObject({ reason: 'dst_gap', detail: 'Europe/Berlin' })
    expect(skipping.countAt(gapAt - 3_600_000, gapAt)).toBe(1)
  })

  it('runs it there unless the schedule says otherwise', () => {
    expect(slots(nightly).whyNot(gapAt)).toBeNull()
  })

  it('does not take away what another rule has at the same instant', () => {
    const other = { kind: 'cron', cron: '0 3 * * *', timezone: 'Europe/Berlin' } as const
    const found = slots({ kind: 'any', of: [{ ...nightly, dst: { gap: 'skip' } }, other] })
    expect(found.whyNot(gapAt)).toBeNull()
  })
})

function range(from: string, to: string): Bounds {
  return { exclude: [{ kind: 'range', fromAt: at(from), toAt: at(to) }] }
}
