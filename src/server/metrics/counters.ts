/** Counts what happens in this process, from the facts its engine tells; what holds for the whole fleet is `gauges.ts`. */
import { Counter, type Registry } from 'prom-client'
import type { Fact } from '../../observe/fact.ts'
import type { Run } from '../../run/run.ts'
import { DURATION_BOUNDS, LATENESS_BOUNDS } from '../../store/contract/stats.ts'
import { type Classes, createClasses, registerHistogram } from './counted-by-bounds.ts'
import { perName } from './per-name.ts'

const seconds = (bounds: readonly number[]): number[] => bounds.map((ms) => ms / 1000)
const LATENESS = seconds(LATENESS_BOUNDS)
const DURATION = seconds(DURATION_BOUNDS)
const RATIO = [0.1, 0.25, 0.5, 0.75, 0.9, 1]
const PASS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface OfJob {
  attempts: number
  succeeded: number
  failed: number
  cancelled: number
  readonly duration: Classes
  readonly ratio: Classes
}

/** What is known before anything happens, so that its series begin at 0 and the first failure shows as a change. */
export interface Known {
  readonly jobs: Iterable<string>
  readonly queues: Iterable<string>
}

const OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const

/** Answers what is to hear the facts; a fact costs it a look into a map and a few additions. */
export function countFacts(registry: Registry, known: Known): (fact: Fact) => void {
  const jobs = perName<OfJob>(() => ({
    attempts: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
    duration: createClasses(DURATION),
    ratio: createClasses(RATIO),
  }))
  const queues = perName(() => createClasses(LATENESS))
  const errors = perName(() => ({ count: 0 }))
  const passes = createClasses(PASS)
  for (const job of known.jobs) jobs.of(job)
  for (const queue of known.queues) queues.of(queue)

  const classesOf = (pick: 'duration' | 'ratio') => ({
    entries: () => [...jobs.entries()].map(([job, each]): [string, Classes] => [job, each[pick]]),
  })
  const plain = (name: string, help: string): Counter => new Counter({ name, help, registers: [registry] })
  const fires = plain('everytick_fires_total', 'Occurrences of schedules that this process turned into runs.')
  const missed = plain('everytick_missed_total', 'Occurrences that this process recorded as missed.')
  const renewed = plain('everytick_leases_renewed_total', 'Leases of runs that this process renewed.')
  const lost = plain('everytick_leases_lost_total', 'Leases that this process lost while the work still ran.')
  new Counter({
    name: 'everytick_attempts_total',
    help: 'Attempts that this process began, by job.',
    labelNames: ['job'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [job, { attempts }] of jobs.entries()) this.inc({ job }, attempts)
    },
  })
  new Counter({
    name: 'everytick_runs_total',
    help: 'Runs that this process ended, by job and outcome.',
    labelNames: ['job', 'outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [job, each] of jobs.entries())
        for (const outcome of OUTCOMES) this.inc({ job, outcome }, each[outcome])
    },
  })
  new Counter({
    name: 'everytick_engine_errors_total',
    help: 'Passes of this process that failed and were tried again, by what failed.',
    labelNames: ['where'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [where, { count }] of errors.entries()) this.inc({ where }, count)
    },
  })
  registerHistogram(registry, {
    name: 'everytick_lateness_seconds',
    help: 'How long after they were due this process began attempts, by queue.',
    bounds: LATENESS,
    by: ['queue', queues],
  })
  registerHistogram(registry, {
    name: 'everytick_duration_seconds',
    help: 'How long attempts took in this process, by job.',
    bounds: DURATION,
    by: ['job', classesOf('duration')],
  })
  registerHistogram(registry, {
    name: 'everytick_duration_timeout_ratio',
    help: 'How much of its timeout each attempt used that has one, by job.',
    bounds: RATIO,
    by: ['job', classesOf('ratio')],
  })
  registerHistogram(registry, {
    name: 'everytick_planner_pass_seconds',
    help: 'How long passes of the planner took while this process planned.',
    bounds: PASS,
    by: null,
    classes: passes,
  })

  const took = ({ duration, ratio }: OfJob, run: Run, durationMs: number): void => {
    duration.add(durationMs / 1000)
    const { timeoutMs } = run.policy
    if (timeoutMs !== undefined) ratio.add(durationMs / timeoutMs)
  }

  return (fact) => {
    switch (fact.kind) {
      case 'run.started':
        jobs.of(fact.run.job).attempts++
        queues.of(fact.run.queue).add(Math.max(0, fact.at - fact.run.dueAt) / 1000)
        break
      case 'run.succeeded':
      case 'run.failed': {
        const job = jobs.of(fact.run.job)
        job[fact.kind === 'run.failed' ? 'failed' : 'succeeded']++
        took(job, fact.run, fact.durationMs)
        break
      }
      case 'run.again':
        took(jobs.of(fact.run.job), fact.run, fact.durationMs)
        break
      case 'run.cancelled':
        jobs.of(fact.run.job).cancelled++
        break
      case 'run.lease_lost':
        lost.inc()
        break
      case 'leases.renewed':
        renewed.inc(fact.count)
        break
      case 'schedule.planned':
        fires.inc(fact.runs)
        break
      case 'schedule.missed':
        missed.inc(fact.count)
        break
      case 'planner.passed':
        passes.add(fact.durationMs / 1000)
        break
      case 'engine.error':
        errors.of(fact.where).count++
        break
    }
  }
}
