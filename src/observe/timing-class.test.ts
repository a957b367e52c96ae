import { describe, expect, it } from 'vitest'
import type { TimingSpec } from '../schedule/schedule.ts'
import { partsOf, readable, type TimingClass } from './timing-class.ts'

const classOf = (timing: TimingSpec, count: number): TimingClass => ({
  ...{ timing, count, jitter: null, job: 'a' },
  sample: { workspace: 'w', key: 'k' },
})
const cron = (text: string): TimingSpec => ({ kind: 'cron', cron: text, timezone: 'UTC' })

describe('schedules that fire alike', () => {
  it.each([
    ['H * * * *', '0 0-59 * * * *', 1 / 60],
    ['H H * * *', '0 0-59 0-23 * * *', 1 / 1440],
    ['H/15 * * * *', '0 0-59 * * * *', 1 / 15],
    ['0 H(1-5) * * *', '0 0 1-5 * * *', 1 / 5],
    ['0 h(9-17)/4 * * MON', '0 0 9-17 * * MON', 1 / 4],
    ['0 0 H * *', '0 0 0 1-28 * *', 1 / 28],
    ['0 0 * * H', '0 0 0 * * 0-6', 1 / 7],
    ['0 0 * * H(MON-FRI)', '0 0 0 * * MON-FRI', 1 / 5],
    ['H 0 0 * * *', '0-59 0 0 * * *', 1 / 60],
    ['0 H(1-2)/9 * * *', '0 0 1-2 * * *', 1 / 2],
  ])('spread %s over its range', (text, wide, share) => {
    const [part] = partsOf(classOf(cron(text), 1000))
    expect(part!.timing).toEqual(cron(wide))
    expect(part!.schedules).toBeCloseTo(1000 * share)
  })

  it.each(['0 9 * * THU', '0 0 1 MAR *', '@hourly', '@every 5m'])('leave %s as it is', (text) => {
    expect(partsOf(classOf(cron(text), 7))).toEqual([{ timing: cron(text), schedules: 7 }])
  })

  it('keep the H of one alone, which its name decides', () => {
    expect(partsOf(classOf(cron('H * * * *'), 1))).toEqual([{ timing: cron('H * * * *'), schedules: 1 }])
  })

  it('keep their bounds, and each rule of several its own share', () => {
    const timing: TimingSpec = { kind: 'any', of: [cron('H * * * *'), { kind: 'once', at: 5 }], endAt: 9 }
    const parts = partsOf(classOf(timing, 60))
    expect(parts).toEqual([
      { timing: { ...cron('0 0-59 * * * *'), endAt: 9 }, schedules: expect.closeTo(1) },
      { timing: { kind: 'once', at: 5, endAt: 9 }, schedules: 60 },
    ])
  })

  it('are left out where they cannot be read, and other faults are not hidden', () => {
    expect(readable(() => partsOf(classOf(cron('H nonsense'), 2)))).toBeNull()
    expect(() =>
      readable(() => {
        throw new TypeError('ours')
      }),
    ).toThrow('ours')
  })
})
