/** Forecasts fires per bucket for classes of schedules. */
import { EverytickError } from '../errors.ts'
import { seedOf } from '../schedule/schedule.ts'
import { searchBudget } from '../schedule/search-budget.ts'
import { allSteps, type Steps } from '../time/steps.ts'
import { addingFires, type ForecastSpan, type Put, type UniformBatch } from './fires-per-bucket.ts'
import { partsOf, readable, readableSteps, type TimingClass, usesName, withinMinute } from './timing-class.ts'

export type { ForecastSpan } from './fires-per-bucket.ts'

export interface ForecastOptions {
  /** The mean duration per job. */
  readonly meanMs: ReadonlyMap<string, number>
  /** The mean duration of unknown jobs. */
  readonly typicalMs: number
  /** How many jobs to list per bucket, by most fires. */
  readonly top: number
}

export interface ForecastBucket {
  readonly at: number
  readonly fires: number
  /** The total duration of these fires. */
  readonly workSeconds: number
  readonly top: readonly { readonly job: string; readonly fires: number }[]
}

const MAX_BUCKETS = 100_000
/** The most job buckets to count individually; beyond that, only jobs of the largest classes. */
const MAX_JOB_BUCKETS = 2_000_000

export function forecast(
  classes: readonly TimingClass[],
  span: ForecastSpan,
  options: ForecastOptions,
): ForecastBucket[] {
  return allSteps(forecasting(classes, span, options))
}

/** The same, yielding in small steps, so that the caller can do other work in between. */
export function* forecasting(
  classes: readonly TimingClass[],
  span: ForecastSpan,
  options: ForecastOptions,
): Steps<ForecastBucket[]> {
  const { fromAt, toAt, bucketMs } = span
  const size = Math.ceil((toAt - fromAt) / bucketMs)
  if (!(bucketMs >= 1 && size >= 1 && size <= MAX_BUCKETS)) {
    throw new EverytickError('OPTION_INVALID', `a forecast has 1 to ${MAX_BUCKETS} buckets, not ${size}`, {
      hint: 'choose a shorter span or a longer bucket',
    })
  }
  const fires = new Float64Array(size)
  const work = new Float64Array(size)
  const byJob = new Map<string, Float64Array>()

  const looks = searchBudget(SCAN_STEPS)
  for (const uniform of yield* grouped(classes, options)) {
    const own = [...uniform.jobs].flatMap(([job, share]) => {
      const counts = jobFires(byJob, job, options.top === 0 ? 0 : size)
      return counts ? [{ counts, share }] : []
    })
    const put: Put = (bucket, count) => {
      if (bucket < 0 || bucket >= size) return
      fires[bucket]! += count * uniform.schedules
      work[bucket]! += count * uniform.seconds
      for (const { counts, share } of own) counts[bucket]! += count * share
    }
    yield* readableSteps(addingFires(uniform, { span, size, put, looks }))
    yield
  }

  const top = topOf(byJob, options.top)
  const whole = rounded(fires)
  const buckets: ForecastBucket[] = []
  for (const [i, count] of whole.entries()) {
    const workSeconds = Math.round(work[i]! * 1000) / 1000
    if (buckets.push({ at: fromAt + i * bucketMs, fires: count, workSeconds, top: top(i) }) % STRIDE === 0) yield
  }
  return buckets
}

/** Buckets between two yields. */
const STRIDE = 1000

/** The budget of exclusion checks for all schedules together. */
const SCAN_STEPS = 1_000_000

/** Parts of classes whose fires coincide, regardless of job. */
interface Group extends UniformBatch {
  schedules: number
  /** The total duration of one fire of all schedules. */
  seconds: number
  readonly jobs: Map<string, number>
}

function* grouped(classes: readonly TimingClass[], options: ForecastOptions): Steps<Iterable<Group>> {
  const groups = new Map<string, Group>()
  let seen = 0
  for (const stored of largestFirst(classes)) {
    const each = withinMinute(stored)
    if (++seen % 100 === 0) yield
    const { jitter, job, count, sample } = each
    const seconds = (options.meanMs.get(job) ?? options.typicalMs) / 1000
    const seed = seedOf(sample)
    for (const { timing, schedules } of readable(() => partsOf(each)) ?? []) {
      const alone = count === 1
      const name = alone && (jitter || usesName(timing)) ? seed : ''
      const key = JSON.stringify([timing, jitter, name])
      const known = groups.get(key) ?? { timing, jitter, seed, alone, schedules: 0, seconds: 0, jobs: new Map() }
      known.schedules += schedules
      known.seconds += schedules * seconds
      known.jobs.set(job, (known.jobs.get(job) ?? 0) + schedules)
      groups.set(key, known)
    }
  }
  return groups.values()
}

/** The most classes to sort; sorting more would block the event loop. */
const MAX_SORTED = 100_000

const largestFirst = (classes: readonly TimingClass[]): readonly TimingClass[] =>
  classes.length > MAX_SORTED ? classes : [...classes].sort((a, b) => b.count - a.count)

function jobFires(byJob: Map<string, Float64Array>, job: string, size: number): Float64Array | undefined {
  const known = byJob.get(job)
  if (known || size === 0 || byJob.size * size >= MAX_JOB_BUCKETS) return known
  const fresh = new Float64Array(size)
  byJob.set(job, fresh)
  return fresh
}

/** Rounds to whole numbers so that the running sum is off by at most a half. */
function rounded(counts: Float64Array): Float64Array {
  let sum = 0
  let told = 0
  return counts.map((count) => {
    sum += count
    const whole = Math.round(sum) - told
    told += whole
    return whole
  })
}

function topOf(byJob: ReadonlyMap<string, Float64Array>, most: number): (bucket: number) => ForecastBucket['top'] {
  return (bucket) => {
    const jobs: { job: string; fires: number }[] = []
    for (const [job, counts] of byJob) {
      const count = Math.round(counts[bucket]!)
      if (count === 0 || (jobs.length >= most && count <= jobs[most - 1]!.fires)) continue
      const place = jobs.findIndex((other) => other.fires < count)
      jobs.splice(place < 0 ? jobs.length : place, 0, { job, fires: count })
      if (jobs.length > most) jobs.pop()
    }
    return jobs
  }
}
