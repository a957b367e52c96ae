/** Finds seconds with far more fires than usual, and proposes a jitter to spread them. */

import { seedOf } from '../schedule/schedule.ts'
import { type Slots, slotsOf } from '../schedule/slots.ts'
import { formatDuration } from '../time/duration.ts'
import type { Steps } from '../time/steps.ts'
import { type ForecastBucket, forecasting } from './forecast.ts'
import { partsOf, readable, type TimingClass, withinMinute } from './timing-class.ts'

export interface SpikeOptions {
  readonly fromAt: number
  /** At most a day later. */
  readonly toAt: number
  readonly meanMs: ReadonlyMap<string, number>
  readonly typicalMs: number
  /** How many runs the fleet can execute at once; 0 without workers. */
  readonly capacity: number
  /** Fewer fires in one second are not a spike. */
  readonly minFires: number
}

export interface Spike {
  /** The second of the spike. */
  readonly at: number
  readonly fires: number
  /** How long the fleet needs to execute them; null without workers. */
  readonly drainSeconds: number | null
  /** The jitter that would spread the schedules without jitter; null if no jitter helps. */
  readonly proposal: { readonly jitter: string; readonly maxFiresAfter: number } | null
  /** The classes without jitter, largest first. */
  readonly top: readonly { readonly job: string; readonly fires: number; readonly sample: TimingClass['sample'] }[]
}

const SECOND_MS = 1000
const MAX_SPIKES = 20
const MAX_TOP = 5
/** The minimum ratio of a peak to the average. */
const STANDS_OUT = 10
const JITTERS = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].map((seconds) => seconds * SECOND_MS)

/** Yields in small steps, like `forecasting`. */
export function* findingSpikes(classes: readonly TimingClass[], options: SpikeOptions): Steps<Spike[]> {
  const seconds = yield* forecasting(classes, { ...options, bucketMs: SECOND_MS }, { ...options, top: 0 })
  const mean = seconds.reduce((sum, { fires }) => sum + fires, 0) / seconds.length
  const peaks = peaksOf(seconds, Math.max(options.minFires, mean * STANDS_OUT))
  const members = peaks.map((): Member[] => [])
  let seen = 0
  for (const each of peaks.length === 0 ? [] : classes) {
    if (++seen % 100 === 0) yield
    if (!withinMinute(each).jitter) readable(() => addMembers(members, each, peaks))
  }
  return peaks.map((peak, i) => {
    const goal = Math.max(mean * 2, goalOf(peak, options))
    const of = { peak, members: members[i]!, others: othersAfter(seconds, peak) }
    return {
      at: peak.at,
      fires: peak.fires,
      drainSeconds: options.capacity === 0 ? null : Math.ceil(peak.workSeconds / options.capacity),
      proposal: propose(of, goal),
      top: topOf(members[i]!),
    }
  })
}

/** The highest peaks, highest first; the earlier of equals. */
function peaksOf(seconds: readonly ForecastBucket[], least: number): ForecastBucket[] {
  return seconds
    .filter(({ fires }) => fires >= least)
    .sort((a, b) => b.fires - a.fires || a.at - b.at)
    .slice(0, MAX_SPIKES)
}

/** Schedules of one class that fire in the second of a peak. */
interface Member {
  readonly job: string
  readonly sample: TimingClass['sample']
  readonly fires: number
  /** The time to their next occurrence: the maximum jitter. */
  readonly gapMs: number
}

function addMembers(members: readonly Member[][], each: TimingClass, peaks: readonly ForecastBucket[]): void {
  for (const { timing, schedules } of partsOf(each)) {
    const slots = slotsOf(timing, seedOf(each.sample))
    for (const [i, { at }] of peaks.entries()) {
      const firstAt = slots.nextAt(at - 1)
      if (firstAt === null || firstAt >= at + SECOND_MS || slots.whyNot(firstAt) !== null) continue
      const fires = schedules * slots.countAt(at - 1, at + SECOND_MS - 1)
      members[i]!.push({ job: each.job, sample: each.sample, fires, gapMs: gapAfter(slots, firstAt) })
    }
  }
}

const gapAfter = (slots: Slots, at: number): number => (slots.nextAt(at) ?? Number.POSITIVE_INFINITY) - at

/** Fires per second that are not a spike: the throughput of the fleet, if known. */
function goalOf({ fires, workSeconds }: ForecastBucket, { capacity, minFires }: SpikeOptions): number {
  return capacity > 0 && workSeconds > 0 ? Math.max(1, (capacity * fires) / workSeconds) : minFires
}

/** Average fires per second in the period over which a peak would be spread. */
type Others = (overMs: number) => number

function othersAfter(seconds: readonly ForecastBucket[], { at }: ForecastBucket): Others {
  const first = (at - seconds[0]!.at) / SECOND_MS + 1
  return (overMs) => {
    const after = seconds.slice(first, first + overMs / SECOND_MS - 1)
    return after.length === 0 ? 0 : after.reduce((sum, { fires }) => sum + fires, 0) / after.length
  }
}

interface Spreadable {
  readonly peak: ForecastBucket
  readonly members: readonly Member[]
  readonly others: Others
}

/** The shortest jitter that reaches the goal; otherwise the shortest of those that come closest. */
function propose({ peak, members, others }: Spreadable, goal: number): Spike['proposal'] {
  const movable = members.reduce((sum, { fires }) => sum + fires, 0)
  const after = (jitterMs: number): number => {
    let spread = 0
    for (const { fires, gapMs } of members) spread += fires / Math.max(1, Math.min(jitterMs, gapMs) / SECOND_MS)
    return Math.max(0, peak.fires - movable) + spread + others(jitterMs)
  }
  const tried = JITTERS.map((jitterMs) => ({ jitterMs, fires: after(jitterMs) }))
  const least = Math.min(...tried.map(({ fires }) => fires))
  const chosen = tried.find(({ fires }) => fires <= Math.max(goal, least * 1.01))!
  if (movable === 0 || chosen.fires > peak.fires * 0.9) return null
  return { jitter: formatDuration(chosen.jitterMs), maxFiresAfter: Math.ceil(chosen.fires) }
}

const topOf = (members: readonly Member[]): Spike['top'] =>
  [...members]
    .sort((a, b) => b.fires - a.fires)
    .slice(0, MAX_TOP)
    .map(({ job, fires, sample }) => ({ job, fires: Math.max(1, Math.round(fires)), sample }))
