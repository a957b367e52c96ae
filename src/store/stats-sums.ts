/** Adds up what has ended, by stretches of five minutes and by scope, purely; reading it and keeping the sums is each store's business. */
import type { RunState } from '../run/state.ts'
import { DURATION_BOUNDS, LATENESS_BOUNDS, STATS_BUCKET_MS, type Stats, type StatsScope } from './contract/stats.ts'

/** A step takes so many stretches at most: a day of them. */
export const MAX_STRETCHES = 288
/** What was not summed up yet is read on the fly for so long back. */
export const FRESH_MS = 3_600_000
/** What commits late is waited for. */
const SETTLING_MS = 10_000

export const stretchAt = (at: number): number => Math.floor(at / STATS_BUCKET_MS) * STATS_BUCKET_MS

/** Stretches that begin before this are over. */
export const overBy = (now: number): number => stretchAt(now - SETTLING_MS)

/** What is alike: so many runs, or occurrences that became none, that ended in one stretch. */
export interface Ended {
  /** Any instant of the stretch. */
  readonly at: number
  /** Null where it is not known any more whose it was. */
  readonly workspace: string | null
  readonly job: string | null
  readonly queue: string | null
  readonly state: RunState
  readonly count: number
  readonly attempts: number
  readonly doubled: number
  /** Places among the classes; null when it never began. */
  readonly lateness: number | null
  readonly duration: number | null
  readonly durationMs: number
  /** The longest of the group; 0 when it never began. */
  readonly latenessMaxMs: number
  readonly durationMaxMs: number
}

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly number[] ? number[] : T[K] }
type Sum = Writable<Stats>

/** The place of the class that a span belongs to: the first whose bound it does not exceed, or the last. */
export function classOf(bounds: readonly number[], ms: number): number {
  const place = bounds.findIndex((bound) => ms <= bound)
  return place === -1 ? bounds.length : place
}

export const nothingAt = (at: number): Sum => ({
  ...{ at, succeeded: 0, failed: 0, cancelled: 0, skipped: 0, missed: 0, attempts: 0, doubled: 0 },
  ...{ lateness: Array(LATENESS_BOUNDS.length + 1).fill(0), durations: Array(DURATION_BOUNDS.length + 1).fill(0) },
  ...{ durationSumMs: 0, latenessMaxMs: 0, durationMaxMs: 0 },
})

export interface Sums {
  add(ended: Ended): void
  /** Those of one scope, oldest first. */
  of(scope: StatsScope): Stats[]
  /** All that there are. */
  entries(): { readonly scope: StatsScope; readonly stats: Stats }[]
}

export function createSums(): Sums {
  const scopes = new Map<StatsScope, Map<number, Sum>>()
  const sumOf = (scope: StatsScope, at: number): Sum => {
    const stretches = scopes.get(scope) ?? new Map<number, Sum>()
    scopes.set(scope, stretches)
    const sum = stretches.get(at) ?? nothingAt(at)
    stretches.set(at, sum)
    return sum
  }
  return {
    add(ended) {
      const at = stretchAt(ended.at)
      addTo(sumOf('all', at), ended)
      if (ended.workspace !== null) addTo(sumOf(`workspace:${ended.workspace}`, at), ended)
      if (ended.job !== null) addTo(sumOf(`job:${ended.job}`, at), ended)
      if (ended.queue !== null) addTo(sumOf(`queue:${ended.queue}`, at), ended)
    },
    of: (scope) => [...(scopes.get(scope)?.values() ?? [])].sort((a, b) => a.at - b.at),
    entries: () =>
      [...scopes].flatMap(([scope, stretches]) => [...stretches.values()].map((stats) => ({ scope, stats }))),
  }
}

function addTo(sum: Sum, ended: Ended): void {
  const { state, count, attempts, doubled, lateness, duration, durationMs } = ended
  if (state !== 'pending' && state !== 'running') sum[state] += count
  sum.attempts += attempts
  sum.doubled += doubled
  if (lateness !== null) sum.lateness[lateness]! += count
  if (duration !== null) sum.durations[duration]! += count
  sum.durationSumMs += durationMs
  sum.latenessMaxMs = Math.max(sum.latenessMaxMs, ended.latenessMaxMs)
  sum.durationMaxMs = Math.max(sum.durationMaxMs, ended.durationMaxMs)
}

/** Whether anything at all ended. */
export const hasAnything = ({ succeeded, failed, cancelled, skipped, missed }: Stats): boolean =>
  succeeded + failed + cancelled + skipped + missed > 0

/** As it is kept, and read again. */
export const statsText = ({ at: _, ...sums }: Stats): string => JSON.stringify(sums)
export function statsOf(at: number, sums: StoredSums): Stats {
  const { latenessMaxMs = lastBound(LATENESS_BOUNDS, sums.lateness) } = sums
  const { durationMaxMs = lastBound(DURATION_BOUNDS, sums.durations) } = sums
  return { at, ...sums, latenessMaxMs, durationMaxMs }
}

/** Sums that an earlier version kept do not say what the longest was. */
export type StoredSums = Omit<Stats, 'at' | 'latenessMaxMs' | 'durationMaxMs'> &
  Partial<Pick<Stats, 'latenessMaxMs' | 'durationMaxMs'>>

/** Where the highest class that has any ends; the one without an end, where it begins. */
function lastBound(bounds: readonly number[], counts: readonly number[]): number {
  const place = counts.findLastIndex((count) => count > 0)
  return place === -1 ? 0 : bounds[Math.min(place, bounds.length - 1)]!
}

/**
 * What is to be kept of a step over `[fromAt, toAt)`: every sum, and for each stretch one of all, so that the newest of these
 * says how far it went.
 */
export function toStoredSums(sums: Sums, { fromAt, toAt }: { fromAt: number; toAt: number }) {
  const all = new Map(sums.of('all').map((stats) => [stats.at, stats]))
  const kept = sums.entries().filter(({ scope }) => scope !== 'all')
  for (let at = fromAt; at < toAt; at += STATS_BUCKET_MS)
    kept.push({ scope: 'all', stats: all.get(at) ?? nothingAt(at) })
  return kept.filter(({ stats }) => stats.at >= fromAt && stats.at < toAt)
}
