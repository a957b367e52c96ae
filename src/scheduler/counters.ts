/** Counts the engine events of this process since the app started; `server/metrics/` writes the counts for Prometheus. */
import { type ClassCounts, createClassCounts } from '../observe/class-counts.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Run } from '../run/run.ts'
import { DURATION_BOUNDS } from '../store/contract/stats.ts'
import { QUOTA_NAMES } from '../workspace/quotas.ts'
import { type PerName, perName } from './per-name.ts'

const inSeconds = (bounds: readonly number[]): readonly number[] => bounds.map((ms) => ms / 1000)

/** Upper bucket bounds in seconds; `timeoutRatio` in fractions of the timeout. */
export const BOUNDS = {
  /** A quantile is only known to lie between two bounds; above a second these are close enough to show how late runs are. */
  lateness: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 900, 3600],
  duration: inSeconds(DURATION_BOUNDS),
  timeoutRatio: [0.1, 0.25, 0.5, 0.75, 0.9, 1],
  plannerPass: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
} as const

export interface JobCounts {
  attempts: number
  succeeded: number
  failed: number
  cancelled: number
  readonly duration: ClassCounts
  readonly timeoutRatio: ClassCounts
}

export interface Counters {
  /** Costs one map lookup and a few additions per event. */
  count(fact: EngineEvent): void
  /** Occurrences that this process planned as runs, and that it recorded as missed. */
  readonly fires: number
  readonly missed: number
  readonly leasesRenewed: number
  readonly leasesLost: number
  readonly jobs: Pick<PerName<JobCounts>, 'entries'>
  /** Lateness, by queue. */
  readonly queues: Pick<PerName<ClassCounts>, 'entries'>
  /** Failed passes, by loop. */
  readonly errors: Pick<PerName<{ readonly count: number }>, 'entries'>
  readonly plannerPass: ClassCounts
  /** Calls rejected by a workspace quota, by quota. */
  readonly refusals: Pick<PerName<{ readonly count: number }>, 'entries'>
}

/** Names known at the start, so that their series begin at 0 and the first failure shows as an increase. */
export interface Known {
  readonly jobs: Iterable<string>
  readonly queues: Iterable<string>
}

export function createCounters(known: Known): Counters {
  const jobs = perName<JobCounts>(() => ({
    ...{ attempts: 0, succeeded: 0, failed: 0, cancelled: 0 },
    duration: createClassCounts(BOUNDS.duration),
    timeoutRatio: createClassCounts(BOUNDS.timeoutRatio),
  }))
  const queues = perName(() => createClassCounts(BOUNDS.lateness))
  const errors = perName(() => ({ count: 0 }))
  const refusals = perName(() => ({ count: 0 }))
  const plannerPass = createClassCounts(BOUNDS.plannerPass)
  const sums = { fires: 0, missed: 0, leasesRenewed: 0, leasesLost: 0 }
  for (const quota of QUOTA_NAMES) refusals.of(quota)
  for (const job of known.jobs) jobs.of(job)
  for (const queue of known.queues) queues.of(queue)

  const attemptEnded = ({ duration, timeoutRatio }: JobCounts, run: Run, durationMs: number): void => {
    duration.add(durationMs / 1000)
    const { timeoutMs } = run.policy
    if (timeoutMs !== undefined) timeoutRatio.add(durationMs / timeoutMs)
  }

  const count = (fact: EngineEvent): void => {
    switch (fact.kind) {
      case 'run.started':
        jobs.of(fact.run.job).attempts++
        queues.of(fact.run.queue).add(Math.max(0, fact.at - fact.run.dueAt) / 1000)
        break
      case 'run.succeeded':
      case 'run.failed': {
        const job = jobs.of(fact.run.job)
        job[fact.kind === 'run.failed' ? 'failed' : 'succeeded']++
        attemptEnded(job, fact.run, fact.durationMs)
        break
      }
      case 'run.retry':
        // The attempt never started here.
        if (fact.reason === 'unknown_job') break
        attemptEnded(jobs.of(fact.run.job), fact.run, fact.durationMs)
        break
      case 'run.cancelled':
        jobs.of(fact.run.job).cancelled++
        break
      case 'run.lease_lost':
        sums.leasesLost++
        break
      case 'leases.renewed':
        sums.leasesRenewed += fact.count
        break
      case 'schedule.planned':
        sums.fires += fact.runs
        break
      case 'schedule.missed':
        sums.missed += fact.count
        break
      case 'planner.passed':
        plannerPass.add(fact.durationMs / 1000)
        break
      case 'engine.error':
        errors.of(fact.where).count++
        break
      case 'quota.refused':
        refusals.of(fact.quota).count++
        break
    }
  }

  return {
    count,
    get fires() {
      return sums.fires
    },
    get missed() {
      return sums.missed
    },
    get leasesRenewed() {
      return sums.leasesRenewed
    },
    get leasesLost() {
      return sums.leasesLost
    },
    jobs,
    queues,
    errors,
    plannerPass,
    refusals,
  }
}
