/** Gathers the facts for a rule from the store, with bounded cost at any size. `observe/alert-condition.ts` evaluates them. */

import { cleanupDone } from '../../engine/cleanup-mark.ts'
import type { Alert } from '../../observe/alert.ts'
import { ownJob } from '../../observe/alert-condition.ts'
import type { FactsOf, LatenessStretch, NamedSchedule } from '../../observe/alert-facts.ts'
import type { RuleKind, RuleOf } from '../../observe/alert-rule.ts'
import { type Counted, countAbove, merged, quantile, upTo } from '../../observe/histogram.ts'
import { lastGapAt } from '../../observe/watch.ts'
import type { LongRun, UnknownJob } from '../../store/contract/monitoring.ts'
import { LATENESS_BOUNDS, type Stats, type StatsScope } from '../../store/contract/stats.ts'
import { failedSubjects } from './failed-subjects.ts'
import { findSchedules, nameOf, schedulesOf, within } from './found-schedules.ts'
import { grouped } from './grouped.ts'
import { lateSchedules } from './late-schedules.ts'
import type { TypicalDuration } from './memory.ts'
import { roundRobin } from './round-robin.ts'
import { silentSchedules } from './silent-schedules.ts'
import type { Snapshot } from './snapshot.ts'
import { typicalDuration } from './typical-duration.ts'

/** The rule and its unresolved alerts, whose subjects are checked one by one. */
export interface Question<Kind extends RuleKind> {
  readonly rule: RuleOf<Kind>
  readonly alerts: readonly Alert[]
}

const HOUR_MS = 3_600_000
/** The shortest duration that a rule can report as too long. */
const LEAST_RUNNING_MS = 10_000
/** The most jobs per workspace whose typical duration a rule reads. */
const MAX_JOBS = 50
/** The most schedules whose typical duration is read in one pass. */
const MAX_SCHEDULES = 200
/** Extra rows, because runs that are planned ahead sort before finished runs. */
const AHEAD = 20
const MAX_EXPIRED = 50
const MAX_FAILOVERS = 20
/** Workers return a run of an unknown job to its queue every few seconds. */
const UNKNOWN_JOB_MS = 60_000
const MAX_UNKNOWN = 1000

type Gather<Kind extends RuleKind> = (snapshot: Snapshot, question: Question<Kind>) => Promise<FactsOf<Kind>>

const GATHER: { readonly [Kind in RuleKind]: Gather<Kind> } = {
  schedule_not_fired: lateSchedules,

  run_failed: failedSubjects,
  no_success: silentSchedules,

  async failed_in_a_row(snapshot, { rule, alerts }) {
    const { count } = rule.settings
    const names = new Map<string, NamedSchedule>()
    for (const { schedule, workspace, failed } of await snapshot.unsuccessful(HOUR_MS))
      if (schedule && failed > 0 && (rule.workspace === '' || workspace === rule.workspace))
        names.set(schedule.id, { id: schedule.id, workspace, key: schedule.key })
    for (const each of await schedulesOf(snapshot, alerts)) names.set(each.id, nameOf(each))
    const latest = await snapshot.store.history.latest([...names.keys()], count + AHEAD)
    const schedules = [...names.values()].map((each) => {
      const states = (latest.get(each.id) ?? []).map(({ state }) => state)
      return { ...each, ends: states.filter((state) => state === 'failed' || state === 'succeeded') }
    })
    return { schedules }
  },

  async failure_rate(snapshot, { rule }) {
    const stats = await sums(snapshot, rule)
    return { ...partOf(rule), succeeded: total(stats, 'succeeded'), failed: total(stats, 'failed') }
  },

  async run_too_long(snapshot, { rule }) {
    const { monitoring } = snapshot.store
    const found = await snapshot.running(LEAST_RUNNING_MS)
    // A run whose lease has expired is no longer executing.
    const runs = found.filter(
      ({ workspace, leaseUntil }) =>
        leaseUntil > snapshot.now && (rule.workspace === '' || workspace === rule.workspace),
    )
    const long = runs.filter(({ startedAt }) => snapshot.now - startedAt > rule.settings.atLeastMs)
    const jobs = new Map(long.map(({ workspace, job }) => [ownJob({ workspace, job }), { workspace, job }]))
    const usual = new Map<string, TypicalDuration>()
    for (const each of roundRobin(jobs.values(), ({ workspace }) => workspace).slice(0, MAX_JOBS))
      usual.set(ownJob(each), await typicalDuration(snapshot, each))
    const untimed = long.filter((run) => timeoutOf(run) === null && run.schedule)
    const ids = roundRobin(untimed, ({ workspace }) => workspace).flatMap(({ schedule }) => schedule?.id ?? [])
    const successes = await monitoring.successes([...new Set(ids)].slice(0, MAX_SCHEDULES))
    const ofSchedule = new Map(
      [...successes].map(([id, { durationsMs }]) => [
        id,
        { medianMs: medianOf(durationsMs), count: durationsMs.length },
      ]),
    )
    const live = runs.map((run) => {
      const { id, workspace, job, schedule, startedAt } = run
      return { id, workspace, job, schedule, startedAt, timeoutMs: timeoutOf(run) }
    })
    return { runs: live, usual, ofSchedule }
  },

  missed: async (snapshot, { rule }) => ({ ...partOf(rule), missed: total(await sums(snapshot, rule), 'missed') }),
  double_fire: async (snapshot, { rule }) => ({
    ...partOf(rule),
    doubled: total(await sums(snapshot, rule), 'doubled'),
  }),
  queue_age: async (snapshot) => ({ queues: await snapshot.queues() }),
  queue_depth: async (snapshot) => ({ queues: await snapshot.queues() }),
  no_worker: async (snapshot) => ({ queues: await snapshot.queues() }),

  async lateness_p99(snapshot, { rule }) {
    // Runs that were caught up after an outage are late, but are no sign that runs start late now.
    const gapAt = lastGapAt(await snapshot.watch())
    const stats = (await sums(snapshot, rule)).filter(({ at }) => at >= gapAt)
    const latenessOf = ({ lateness, latenessMaxMs }: Pick<Counted, 'lateness' | 'latenessMaxMs'>): LatenessStretch => ({
      p99Ms: quantile(upTo(LATENESS_BOUNDS, latenessMaxMs), lateness, 0.99) ?? 0,
      count: lateness.reduce((sum, each) => sum + each, 0),
      late: countAbove(LATENESS_BOUNDS, lateness, rule.settings.limitMs),
    })
    const stretches = stats.map(latenessOf).filter(({ count }) => count > 0)
    return { ...partOf(rule), ...latenessOf(merged(stats)), stretches }
  },

  clock_skew: async (snapshot) => ({ node: snapshot.node, skewMs: snapshot.skewMs }),

  async planner_stalled(snapshot) {
    const { schedules: due } = await snapshot.store.planning.due({ lookaheadMs: 0, limit: 1 })
    const [first] = due
    const locks = await snapshot.locks()
    const led = locks.some(({ name, until }) => name === 'planner' && until > snapshot.now)
    const planners = (await snapshot.workers()).filter(({ roles }) => roles.includes('scheduler')).length
    const { schedules: count } = await snapshot.store.stats.sizes()
    const idleMs = await snapshot.lastedMs((await snapshot.plannerSeenAt()) ?? 0)
    const overdue = first ? { ...nameOf(first), lateMs: await snapshot.lastedMs(first.nextAt) } : null
    return { schedules: count, led, planners, idleMs, overdue }
  },

  async schedule_quarantined(snapshot, { rule, alerts }) {
    const found = await findSchedules(snapshot, { ...within(rule), quarantined: true })
    const again = (await schedulesOf(snapshot, alerts)).filter(({ id }) => !found.some((each) => each.id === id))
    const all = [...found, ...again].filter(({ quarantine }) => quarantine !== null)
    return {
      schedules: all.map((each) => ({
        ...nameOf(each),
        code: each.quarantine!.code,
        message: each.quarantine!.message,
      })),
    }
  },

  leadership_flapping: async (snapshot, { rule }) => ({
    changes: await snapshot.plannerChanges(rule.settings.windowMs),
  }),

  async dead_letter_growth(snapshot, { rule }) {
    return { ...partOf(rule), failed: total(await sums(snapshot, rule), 'failed') }
  },

  async orphaned_rows(snapshot) {
    const expired = await snapshot.store.claims.expired(MAX_EXPIRED)
    const oldest = Math.min(snapshot.now, ...expired.map(({ leaseUntil }) => leaseUntil ?? snapshot.now))
    const span = { afterAt: snapshot.now - UNKNOWN_JOB_MS, untilAt: snapshot.now }
    const unknown = mergedJobs(await snapshot.store.monitoring.unknownJobs(span, MAX_UNKNOWN))
    const unknownJobs = await Promise.all(
      unknown.map(async ({ sinceAt, ...each }) => ({ ...each, forMs: await snapshot.lastedMs(sinceAt, each.queue) })),
    )
    return { expired: { runs: expired.length, forMs: await snapshot.lastedMs(oldest) }, unknownJobs }
  },

  async cleanup_failing(snapshot) {
    const planners = (await snapshot.workers()).filter(({ roles }) => roles.includes('scheduler')).length
    const done = await cleanupDone(snapshot.store.documents)
    return { planners, silentMs: await snapshot.lastedMs(done?.at ?? 0), error: done?.error ?? null }
  },

  store_failed_over: async (snapshot) => ({ failovers: await snapshot.store.failovers.list(MAX_FAILOVERS) }),
}

export function gather<Kind extends RuleKind>(snapshot: Snapshot, question: Question<Kind>): Promise<FactsOf<Kind>> {
  const one: Gather<Kind> = GATHER[question.rule.kind]
  return one(snapshot, question)
}

/** A job of a queue counts against the workspace that names the fewest jobs, so that a workspace with many cannot claim it for its share. */
function mergedJobs(unknown: readonly UnknownJob[]): UnknownJob[] {
  const counts = grouped(unknown, ({ workspace }) => workspace)
  const countOf = ({ workspace }: UnknownJob): number => counts.get(workspace)!.length
  return [...grouped(unknown, ({ job, queue }) => JSON.stringify([job, queue])).values()].map((uniform) => ({
    ...uniform.toSorted((a, b) => countOf(a) - countOf(b))[0]!,
    runs: uniform.reduce((sum, { runs }) => sum + runs, 0),
    sinceAt: Math.min(...uniform.map(({ sinceAt }) => sinceAt)),
  }))
}

/** A handed-over run has the deadline of its hand-over instead of the attempt timeout. */
const timeoutOf = ({ workerId, leaseUntil, startedAt, timeoutMs }: LongRun): number | null =>
  workerId === null ? leaseUntil - startedAt : timeoutMs

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

interface Summing {
  readonly workspace: string
  readonly settings: { readonly windowMs: number; readonly job?: string; readonly queue?: string }
}

function scopeOf({ workspace, settings: { job, queue } }: Summing): StatsScope {
  if (workspace !== '') return `workspace:${workspace}`
  if (job !== undefined) return `job:${job}`
  return queue === undefined ? 'all' : `queue:${queue}`
}

function partOf({ workspace, settings: { job, queue } }: Summing): { of: string; workspace: string } {
  if (job !== undefined) return { of: `job ${job}`, workspace }
  return { of: queue === undefined ? '' : `queue ${queue}`, workspace }
}

const sums = (snapshot: Snapshot, rule: Summing): Promise<readonly Stats[]> =>
  snapshot.stats(scopeOf(rule), rule.settings.windowMs)

const total = (stats: readonly Stats[], of: 'succeeded' | 'failed' | 'missed' | 'doubled'): number =>
  stats.reduce((sum, each) => sum + each[of], 0)
