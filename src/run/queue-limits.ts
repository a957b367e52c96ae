/** Decides, without I/O, how many runs of a queue may be claimed now under its limits; the claim chooses the runs. */

export interface QueueLimits {
  /** Runs that may be worked on at once in all processes together. */
  readonly globalConcurrency?: number
  /** The same for each workspace. */
  readonly perWorkspace?: number
  /** At most `count` claims in any stretch of `perMs`. */
  readonly rateLimit?: { readonly count: number; readonly perMs: number }
}

/** Claims of the recent past: how many, and up to which instant they are counted as one. Oldest first. */
export type RateLog = readonly (readonly [at: number, count: number])[]

export interface Allowance {
  /** How many may be claimed now. */
  readonly limit: number
  /** When the rate limit allows more; null when it is not in the way. */
  readonly againAt: number | null
}

/** In how many steps the past is remembered; finer ones would cost space, coarser ones throughput. */
const STEPS = 50

export const isLimited = ({ globalConcurrency, perWorkspace, rateLimit }: QueueLimits): boolean =>
  globalConcurrency !== undefined || perWorkspace !== undefined || rateLimit !== undefined

/** `running` is what is claimed in the queue and not settled. */
export function allowance(
  limits: QueueLimits,
  { wanted, running, log, now }: { wanted: number; running: number; log: RateLog; now: number },
): Allowance {
  const { globalConcurrency, rateLimit } = limits
  let limit = wanted
  if (globalConcurrency !== undefined) limit = Math.min(limit, globalConcurrency - running)
  let againAt: number | null = null
  if (rateLimit) {
    const recent = recentOf(log, rateLimit.perMs, now)
    const free = rateLimit.count - recent.reduce((sum, [, count]) => sum + count, 0)
    if (free < limit) againAt = recent.length === 0 ? null : recent[0]![0] + rateLimit.perMs
    limit = Math.min(limit, free)
  }
  return { limit: Math.max(0, limit), againAt }
}

/** The log after `claimed` more at `now`, without what no longer counts. */
export function spend(
  log: RateLog,
  { rateLimit }: QueueLimits,
  { granted, now }: { granted: number; now: number },
): RateLog {
  if (!rateLimit) return []
  const recent = recentOf(log, rateLimit.perMs, now)
  if (granted === 0) return recent
  const stepMs = Math.max(1, Math.floor(rateLimit.perMs / STEPS))
  const at = Math.ceil(now / stepMs) * stepMs
  const last = recent.at(-1)
  if (last && last[0] === at) return [...recent.slice(0, -1), [at, last[1] + granted]]
  return [...recent, [at, granted]]
}

const recentOf = (log: RateLog, perMs: number, now: number): RateLog => log.filter(([at]) => at + perMs > now)
