import { describe, expect, it } from 'vitest'
import type { TimingSpec } from '../schedule/schedule.ts'
import { allSteps } from '../time/steps.ts'
import { type ClockChange, findingClockChanges } from './clock-changes.ts'
import type { TimingClass } from './timing-class.ts'

const FROM = Date.parse('2027-01-01T00:00:00Z')
const TO = Date.parse('2028-01-01T00:00:00Z')
const SPRING = Date.parse('2027-03-28T01:00:00Z')
const AUTUMN = Date.parse('2027-10-31T01:00:00Z')

type Dst = Extract<TimingSpec, { kind: 'cron' }>['dst']
const berlin = (cron: string, dst?: Dst): TimingSpec => ({
  ...{ kind: 'cron', cron, timezone: 'Europe/Berlin' },
  ...(dst ? { dst } : {}),
})
const classOf = (timing: TimingSpec, count = 3, key = 'k'): TimingClass => ({
  ...{ timing, count, jitter: null, job: 'a', sample: { workspace: 'w', key } },
})

function changesOf(...classes: TimingClass[]): ClockChange[] {
  return allSteps(findingClockChanges(classes, { fromAt: FROM, toAt: TO }))
}
const brief = (changes: readonly ClockChange[]): string[] =>
  changes.map(
    ({ at, effect, schedules }) => `${at === SPRING ? 'spring' : at === AUTUMN ? 'autumn' : at} ${effect} ${schedules}`,
  )

describe('a clock change', () => {
  it.each<[string, TimingSpec, string[]]>([
    ['shifts what it jumps over', berlin('30 2 * * *'), ['spring shifted 3', 'autumn moved_in_utc 3']],
    [
      'skips it where it was told to',
      berlin('30 2 * * *', { gap: 'skip' }),
      ['spring skipped 3', 'autumn moved_in_utc 3'],
    ],
    ['repeats what comes twice', berlin('30 2 * * *', { fold: 'both' }), ['spring shifted 3', 'autumn repeated 3']],
    ['moves what stands elsewhere', berlin('0 9 * * *'), ['spring moved_in_utc 3', 'autumn moved_in_utc 3']],
    ['shifts starred minutes of a named hour', berlin('*/30 2 * * *'), ['spring shifted 3', 'autumn repeated 3']],
    [
      'does to starred minutes what they were told',
      berlin('*/30 2 * * *', { gap: 'skip', fold: 'first' }),
      ['spring skipped 3', 'autumn moved_in_utc 3'],
    ],
    ['leaves what follows elapsed time', berlin('*/10 * * * *'), []],
    ['strikes every second hour by the wall', berlin('0 */2 * * *'), ['spring skipped 3', 'autumn repeated 3']],
    ['leaves intervals', { kind: 'interval', everyMs: 3_600_000, anchorAt: 0 }, []],
    ['leaves UTC', { kind: 'cron', cron: '30 2 * * *', timezone: 'UTC' }, []],
    ['leaves what has ended', { ...berlin('30 2 * * *'), endAt: SPRING - 1 }, []],
    ['leaves what has not begun', { ...berlin('30 2 * * *'), startAt: SPRING + 1 }, ['autumn moved_in_utc 3']],
  ])('%s', (_, timing, expected) => expect(brief(changesOf(classOf(timing)))).toEqual(expected))

  it('is told once for a schedule of several rules, by its greatest effect', () => {
    const timing: TimingSpec = {
      kind: 'any',
      of: [berlin('0 9 * * *'), berlin('30 2 * * *', { gap: 'skip' })] as never,
    }
    expect(brief(changesOf(classOf(timing)))).toEqual(['spring skipped 3', 'autumn moved_in_utc 3'])
  })

  it('strikes as many of those with H as choose a time that it jumps over', () => {
    const changes = changesOf(classOf(berlin('H H * * *'), 2400))
    expect(brief(changes)).toEqual(['spring shifted 100', 'spring moved_in_utc 2300', 'autumn moved_in_utc 2400'])
  })

  it('is told by zone and effect, with a few schedules to look at', () => {
    const many = Array.from({ length: 9 }, (_, i) => classOf(berlin(`${i} 2 * * *`), 2, `k${i}`))
    const [spring] = changesOf(...many)
    expect(spring).toMatchObject({ at: SPRING, zone: 'Europe/Berlin', effect: 'shifted', schedules: 18 })
    expect(spring!.samples.map(({ key }) => key)).toEqual(['k0', 'k1', 'k2', 'k3', 'k4'])
  })
})
