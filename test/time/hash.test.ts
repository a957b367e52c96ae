/** What H promises: values inside their range, the same for ever for one seed, spread evenly over many. */
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../src/cron.ts'

const settled = (expression: string, seed: string): string =>
  Object.values(parseCron(expression, { seed }).fields)
    .map((field) => field.values.join(','))
    .join(' ')

describe('H', () => {
  // A change here moves every schedule that uses H: these values are as much API as the grammar.
  it.each([
    ['default/nightly', '7 35 1 3 4 4'],
    ['t_42/digest', '42 26 15 14 6 6'],
    ['', '30 58 12 13 9 1'],
  ])('gives the seed "%s" the values it has always had', (seed, values) => {
    expect(settled('H H H H H H', seed)).toBe(values)
    expect(settled('h h h h h h', seed)).toBe(values)
  })

  it('steps from an offset below the step to the end of the field', () => {
    expect(settled('H/15 0 1 1 0', 'default/nightly')).toBe('0 5,20,35,50 0 1 1 0')
    for (let n = 0; n < 200; n += 1) {
      const { values } = parseCron('H/7 0 1 1 0', { seed: `t_${n}` }).fields.minute!
      expect(values[0]).toBeLessThan(7)
      expect(values.at(-1)).toBeGreaterThan(59 - 7)
      expect(values.every((value, index) => index === 0 || value - values[index - 1]! === 7)).toBe(true)
    }
  })

  it('stays inside its range, and on days that every month has', () => {
    for (let n = 0; n < 300; n += 1) {
      const { minute, hour, day, weekday } = parseCron('H(10-29) H(0-3)/20 H * H', { seed: `t_${n}` }).fields
      expect(minute!.values[0]).toBeGreaterThanOrEqual(10)
      expect(minute!.values[0]).toBeLessThanOrEqual(29)
      expect(hour!.values).toHaveLength(1)
      expect(hour!.values[0]).toBeLessThanOrEqual(3)
      expect(day!.values[0]).toBeLessThanOrEqual(28)
      expect(weekday!.values[0]).toBeLessThanOrEqual(6)
    }
  })

  it('spreads a spike evenly over the hour', () => {
    const perMinute = new Array<number>(60).fill(0)
    for (let n = 0; n < 6000; n += 1) {
      const [minute = -1] = parseCron('H * * * *', { seed: `t_${n}/digest` }).fields.minute!.values
      perMinute[minute]! += 1
    }
    // A hundred are expected in each; ten is one standard deviation.
    expect(Math.min(...perMinute)).toBeGreaterThan(60)
    expect(Math.max(...perMinute)).toBeLessThan(140)
  })

  it('counts as a fixed time of day: once on the night the clock goes back', () => {
    const timing = parseCron('H(30-30) H(1-1) * * *', { timezone: 'America/New_York', seed: 'default/nightly' })
    expect(timing.count(new Date('2026-11-01T00:00:00Z'), new Date('2026-11-02T00:00:00Z'))).toBe(1)
  })
})
