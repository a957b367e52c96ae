import { describe, expect, it } from 'vitest'
import type { Jitter, TimingSpec } from '../schedule/schedule.ts'
import { allSteps } from '../time/steps.ts'
import { findingSpikes, type Spike, type SpikeOptions } from './spikes.ts'
import type { TimingClass } from './timing-class.ts'

const FROM = Date.parse('2027-01-01T00:00:00Z')
const HOUR = 3_600_000
const OPTIONS: SpikeOptions = {
  ...{ fromAt: FROM, toAt: FROM + 4 * HOUR, meanMs: new Map(), typicalMs: 2000, capacity: 100, minFires: 100 },
}
const cron = (text: string): TimingSpec => ({ kind: 'cron', cron: text, timezone: 'UTC' })

function classOf(timing: TimingSpec, count: number, jitter: Jitter | null = null): TimingClass {
  return { timing, jitter, job: 'job', count, sample: { workspace: 'w', key: 'k' } }
}

function spikesOf(classes: TimingClass[], options: Partial<SpikeOptions> = {}): Spike[] {
  return allSteps(findingSpikes(classes, { ...OPTIONS, ...options }))
}

describe('spikes', () => {
  it('are the seconds in which far more come than usual, with a jitter that the fleet can keep up with', () => {
    const [spike, ...others] = spikesOf([classOf(cron('0 2 * * *'), 6000), classOf(cron('* * * * *'), 60)])
    expect(others).toEqual([])
    expect(spike).toEqual({
      at: FROM + 2 * HOUR,
      fires: 6060,
      drainSeconds: 122,
      // 50 a second is what 100 slots get done of work that takes 2 seconds.
      proposal: { jitter: '5m', maxFiresAfter: 22 },
      top: [
        { job: 'job', fires: 6000, sample: { workspace: 'w', key: 'k' } },
        { job: 'job', fires: 60, sample: { workspace: 'w', key: 'k' } },
      ],
    })
  })

  it('are not seen where the same fires are spread already', () => {
    const jitter: Jitter = { max: { ms: 600_000 }, per: 'schedule' }
    expect(spikesOf([classOf(cron('0 2 * * *'), 6000, jitter)])).toEqual([])
    expect(spikesOf([classOf(cron('H 2 * * *'), 5000)], { minFires: 100 }).every(({ fires }) => fires < 100)).toBe(true)
  })

  it('are not seen where every second is as full', () => {
    expect(spikesOf([classOf({ kind: 'interval', everyMs: 1000, anchorAt: 0 }, 5000)])).toEqual([])
  })

  it('are at most 20, the largest first', () => {
    const classes = Array.from({ length: 40 }, (_, i) => classOf(cron(`${i} 2 * * *`), 1000 + i))
    const spikes = spikesOf(classes)
    expect(spikes).toHaveLength(20)
    expect(spikes[0]).toMatchObject({ fires: 1039, at: FROM + 2 * HOUR + 39 * 60_000 })
    expect(spikes.at(-1)).toMatchObject({ fires: 1020 })
  })

  it('say nothing of how long they take where nobody works, and aim at what is no spike', () => {
    const [spike] = spikesOf([classOf(cron('0 2 * * *'), 6000)], { capacity: 0 })
    expect(spike).toMatchObject({ drainSeconds: null, proposal: { jitter: '1m', maxFiresAfter: 100 } })
  })

  it('are not promised a spread beyond the next occurrence', () => {
    const at = FROM + 2 * HOUR
    const twice: TimingSpec = { kind: 'interval', everyMs: 30_000, anchorAt: 0, startAt: at, endAt: at + 30_000 }
    const [spike] = spikesOf([classOf(twice, 9000)])
    expect(spike).toMatchObject({ at, proposal: { jitter: '30s', maxFiresAfter: 300 } })
  })
})
