/** Distributes the fires of one timing over buckets, by enumerating or by counting them; `forecast.ts` multiplies by schedules. */
import { jitterMs } from '../schedule/jitter.ts'
import type { Jitter, TimingRule, TimingSpec } from '../schedule/schedule.ts'
import type { SearchBudget } from '../schedule/search-budget.ts'
import { type Slots, slotsOf } from '../schedule/slots.ts'
import type { Steps } from '../time/steps.ts'
import { rulesOf } from './timing-class.ts'

export interface ForecastSpan {
  readonly fromAt: number
  /** Exclusive. */
  readonly toAt: number
  readonly bucketMs: number
}

/** The common properties of schedules that fire together. */
export interface UniformBatch {
  readonly timing: TimingSpec
  readonly jitter: Jitter | null
  readonly seed: string
  /** Whether it is a single schedule, whose name determines its jitter. */
  readonly alone: boolean
}

/** The most occurrences per bucket to check for exclusions; beyond that, an even sample is checked. */
const MAX_SCANS = 60

export type Put = (bucket: number, count: number) => void

export interface Grid {
  readonly span: ForecastSpan
  readonly size: number
  readonly put: Put
  /** The remaining budget of exclusion checks. */
  readonly looks: SearchBudget
}

/** Occurrences or buckets between two yields. */
const STRIDE = 50

/** The fires of one schedule; yields in small steps. */
export function* addingFires(uniform: UniformBatch, grid: Grid): Steps<void> {
  const { timing, jitter, seed, alone } = uniform
  const { fromAt, toAt } = grid.span
  const slots = slotsOf(timing, seed)
  if (timing.kind === 'any' && slots.countableUntil(fromAt - 1, toAt - 1) < toAt - 1) {
    for (const rule of timing.of) yield* addingFires({ ...uniform, timing: { ...timing, ...rule } }, grid)
    return
  }
  const total = slots.countAt(fromAt - 1, toAt - 1)
  if (total > 2 * grid.size) {
    yield* addingDense(slots, uniform, grid)
    return
  }
  let seen = 0
  // Jitter is shorter than the interval, so only one earlier occurrence can move into the period.
  let at = (jitter ? slots.prevAt(fromAt) : null) ?? slots.nextAt(fromAt - 1)
  while (at !== null && at < toAt) {
    if (++seen % STRIDE === 0) yield
    const nextAt = slots.nextAt(at)
    if (mayRun(slots, at, grid)) {
      if (alone) spread(grid, { at: at + jitterMs(jitter, seed, { at, nextAt }), overMs: 0 })
      else spread(grid, { at, overMs: rangeMs(jitter, { at, nextAt }) })
    }
    at = nextAt
  }
}

/** Without remaining budget, every occurrence counts. */
function mayRun(slots: Slots, at: number, { looks }: Grid): boolean {
  if (looks.left <= 0) return true
  looks.left -= slots.scanSteps
  return slots.whyNot(at) === null
}

/** For several occurrences per bucket: counts them instead of enumerating; jitter moves a share to the next bucket. */
function* addingDense(slots: Slots, { timing, jitter }: UniformBatch, grid: Grid): Steps<void> {
  const { span, size, put } = grid
  const { fromAt, bucketMs, toAt } = span
  const guarded = timing.startAt !== undefined || timing.exclude !== undefined || rulesOf(timing).some(skipsGaps)
  for (let i = jitter ? -1 : 0; i < size; i++) {
    if (i % (guarded ? 1 : STRIDE) === 0) yield
    const at = fromAt + i * bucketMs
    const endAt = Math.min(at + bucketMs, toAt)
    const counted = slots.countAt(at - 1, endAt - 1)
    if (counted === 0) continue
    const count = guarded ? allowed(slots, { at, endAt, counted }, grid) : counted
    const gapMs = (endAt - at) / counted
    const moved = Math.min(1, rangeMs(jitter, { at, nextAt: at + gapMs }) / 2 / bucketMs)
    put(i, count * (1 - moved))
    if (moved > 0) put(i + 1, count * moved)
  }
}

const skipsGaps = (rule: TimingRule): boolean => rule.kind === 'cron' && rule.dst?.gap === 'skip'

/** How many occurrences in [at, endAt) are not excluded. */
function allowed(
  slots: Slots,
  { at, endAt, counted }: { at: number; endAt: number; counted: number },
  grid: Grid,
): number {
  if (grid.looks.left <= 0) return counted
  const looks = Math.min(counted, MAX_SCANS)
  let free = 0
  let next: number | null = at - 1
  for (let look = 0; look < looks && next !== null; look++) {
    const fromAt: number = counted <= MAX_SCANS ? next : Math.floor(at + ((endAt - at) * look) / looks) - 1
    next = slots.nextAt(fromAt)
    if (next !== null && next < endAt && mayRun(slots, next, grid)) free++
  }
  return (counted * free) / looks
}

/** The maximum jitter of an occurrence, as in `jitterMs`. */
function rangeMs(jitter: Jitter | null, { at, nextAt }: { at: number; nextAt: number | null }): number {
  if (!jitter) return 0
  const gap = nextAt === null ? Number.POSITIVE_INFINITY : nextAt - at
  if ('ms' in jitter.max) return Math.min(jitter.max.ms, gap)
  return nextAt === null ? 0 : jitter.max.share * gap
}

interface Spread {
  readonly at: number
  readonly overMs: number
}

/** Spreads evenly over the buckets from `at` to `overMs` later. */
function spread({ span: { fromAt, bucketMs }, size, put }: Grid, { at, overMs }: Spread): void {
  const first = Math.floor((at - fromAt) / bucketMs)
  const last = Math.min(size - 1, Math.floor((at + overMs - fromAt) / bucketMs))
  if (overMs === 0 || first === last) {
    put(first, 1)
    return
  }
  for (let i = Math.max(0, first); i <= last; i++) {
    const from = Math.max(at, fromAt + i * bucketMs)
    const to = Math.min(at + overMs, fromAt + (i + 1) * bucketMs)
    put(i, (to - from) / overMs)
  }
}
