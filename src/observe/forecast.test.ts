import { describe, expect, it } from 'vitest'
import type { Jitter, TimingSpec } from '../schedule/schedule.ts'
import { nextRunAt } from '../schedule/search.ts'
import { slotsOf } from '../schedule/slots.ts'
import { type ForecastBucket, type ForecastSpan, forecast } from './forecast.ts'
import type { TimingClass } from './timing-class.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const FROM = Date.parse('2027-03-27T22:00:00Z')
const OPTIONS = { meanMs: new Map([['slow', 30_000]]), typicalMs: 1000, top: 2 }

const cron = (text: string, timezone = 'UTC'): TimingSpec => ({ kind: 'cron', cron: text, timezone })
const every = (everyMs: number, anchorAt = 0): TimingSpec => ({ kind: 'interval', everyMs, anchorAt })
const spread = (ms: number): Jitter => ({ max: { ms }, per: 'schedule' })

function classOf(timing: TimingSpec, more: Partial<TimingClass> = {}): TimingClass {
  return { timing, jitter: null, job: 'quick', count: 10, sample: { workspace: 'w', key: 'k' }, ...more }
}
const span = (hours: number, bucketMs: number): ForecastSpan => ({ fromAt: FROM, toAt: FROM + hours * HOUR, bucketMs })
const firesOf = (classes: TimingClass[], over: ForecastSpan): number[] =>
  forecast(classes, over, OPTIONS).map(({ fires }) => fires)
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

/** Fires of one schedule by walking, occurrence by occurrence. */
function walked(timing: TimingSpec, { fromAt, toAt, bucketMs }: ForecastSpan): number[] {
  const slots = slotsOf(timing, 'w/k')
  const fires = new Array<number>(Math.ceil((toAt - fromAt) / bucketMs)).fill(0)
  for (let at = nextRunAt(slots, fromAt - 1); at !== null && at < toAt; at = nextRunAt(slots, at))
    fires[Math.floor((at - fromAt) / bucketMs)]!++
  return fires
}

describe('a forecast', () => {
  it.each<[string, TimingSpec]>([
    ['once a day', cron('30 2 * * *')],
    ['over a clock change', cron('30 2 * * *', 'Europe/Berlin')],
    [
      'over a gap that is left out',
      { kind: 'cron', cron: '*/2 2 * * *', timezone: 'Europe/Berlin', dst: { gap: 'skip' } },
    ],
    ['every minute', cron('* * * * *', 'Europe/Berlin')],
    ['every second of an hour', cron('* * 3 * * *')],
    ['every 7 seconds', every(7000, 123)],
    ['every 90 minutes', every(90 * MINUTE, FROM)],
    ['once', { kind: 'once', at: FROM + HOUR }],
    ['one of several', { kind: 'any', of: [cron('*/5 * * * *'), every(3 * MINUTE)] as never }],
    ['from a start to an end', { ...every(10_000), startAt: FROM + HOUR, endAt: FROM + 5 * HOUR }],
    ['but not at lunch', { ...cron('*/5 * * * *'), exclude: [{ kind: 'cron', cron: '* 4 * * *', timezone: 'UTC' }] }],
    ['with its H, when it is alone', cron('H H(0-5) * * *')],
  ])('counts what fires %s as the engine would', (_, timing) => {
    for (const bucketMs of [5 * MINUTE, 7 * MINUTE, HOUR]) {
      const over = span(10, bucketMs)
      expect(firesOf([classOf(timing, { count: 1 })], over)).toEqual(walked(timing, over))
    }
  })

  it('counts every schedule of a class, and has a bucket for every stretch', () => {
    const buckets = forecast([classOf(cron('0 * * * *'), { count: 250 })], span(3, HOUR), OPTIONS)
    expect(buckets.map(({ at, fires }) => [at - FROM, fires])).toEqual([
      [0, 250],
      [HOUR, 250],
      [2 * HOUR, 250],
    ])
  })

  it('spreads what has jitter over its range, and loses none', () => {
    const daily = classOf(cron('0 23 * * *'), { count: 600, jitter: spread(30 * MINUTE) })
    const fires = firesOf([daily], span(2, 10 * MINUTE))
    expect(fires).toEqual([0, 0, 0, 0, 0, 0, 200, 200, 200, 0, 0, 0])
  })

  it('counts what jitter carries into the span from before it', () => {
    const before = classOf(every(2 * HOUR, FROM - HOUR), { count: 100, jitter: spread(2 * HOUR) })
    expect(firesOf([before], span(1, HOUR))).toEqual([50])
  })

  it('keeps the number of fires where jitter spreads many a bucket', () => {
    const dense = classOf(every(1000), { count: 7, jitter: { max: { share: 1 }, per: 'occurrence' } })
    expect(sum(firesOf([dense], span(1, 5 * MINUTE)))).toBe(7 * 3600)
  })

  it('takes those that share no more than a minute to be anywhere in it', () => {
    const second = (timing: TimingSpec): number[] => firesOf([classOf(timing, { count: 120 })], span(1 / 30, 1000))
    expect(second({ kind: 'once', at: FROM + MINUTE + 7000 })).toEqual([...Array(60).fill(0), ...Array(60).fill(2)])
    expect(second({ kind: 'once', at: FROM + MINUTE })[60]).toBe(120)
    expect(second(every(MINUTE, 5000))).toEqual(Array(120).fill(2))
  })

  it('spreads H evenly over the schedules of a class', () => {
    expect(firesOf([classOf(cron('H * * * *'), { count: 1200 })], span(1, 5 * MINUTE))).toEqual(Array(12).fill(100))
    expect(sum(firesOf([classOf(cron('H H * * *'), { count: 999 })], span(24, 5 * MINUTE)))).toBe(999)
  })

  it('tells fewer fires than one a bucket in whole numbers that add up', () => {
    const rare = classOf(cron('H * * * *'), { count: 6 })
    const fires = firesOf([rare], span(4, 5 * MINUTE))
    expect(sum(fires)).toBe(24)
    expect(Math.max(...fires)).toBe(1)
  })

  it('counts several rules with very many occurrences each on its own, and ends', () => {
    const rules = [every(100), every(100, 50), every(7000)]
    const fires = firesOf([classOf({ kind: 'any', of: rules as never }, { count: 1 })], span(24 * 60, HOUR))
    expect(sum(fires)).toBe(
      rules.reduce((all, rule) => all + slotsOf(rule, '').countAt(FROM - 1, FROM + 1440 * HOUR - 1), 0),
    )
  })

  it('says how long the work takes, by the mean of each job', () => {
    const classes = [classOf(cron('0 * * * *'), { job: 'slow', count: 4 }), classOf(cron('0 * * * *'), { count: 5 })]
    expect(forecast(classes, span(1, HOUR), OPTIONS)).toEqual<ForecastBucket[]>([
      {
        ...{ at: FROM, fires: 9, workSeconds: 125 },
        top: [
          { job: 'quick', fires: 5 },
          { job: 'slow', fires: 4 },
        ],
      },
    ])
  })

  it('names only the jobs with the most fires', () => {
    const classes = ['a', 'b', 'c', 'd'].map((job, i) => classOf(cron('0 * * * *'), { job, count: i + 1 }))
    const [bucket] = forecast(classes, span(1, HOUR), OPTIONS)
    expect(bucket!.top).toEqual([
      { job: 'd', fires: 4 },
      { job: 'c', fires: 3 },
    ])
  })

  it('goes on past a class that cannot be read', () => {
    const classes = [classOf(cron('0 * * * *', 'Nowhere/Atall')), classOf(cron('0 * * * *'))]
    expect(firesOf(classes, span(1, HOUR))).toEqual([10])
  })

  it.each([0, -1, Number.NaN, 1])('refuses buckets of %d ms over a month', (bucketMs) => {
    expect(() => forecast([], span(720, bucketMs), OPTIONS)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    )
  })
})
