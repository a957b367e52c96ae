/** Looks up what a rule has to know, from the store only and bounded at any size; what it means is `observe/alert-condition.ts`. */

import type { Alert } from '../../observe/alert.ts'
import type { FactsOf, NamedSchedule } from '../../observe/alert-facts.ts'
import type { RuleKind, RuleOf } from '../../observe/alert-rule.ts'
import { merged, quantile } from '../../observe/histogram.ts'
import type { Run } from '../../run/run.ts'
import { DAY_MS } from '../../schedule/calendar.ts'
import type { RunFilter } from '../../store/contract/history.ts'
import { DURATION_BOUNDS, LATENESS_BOUNDS, type Stats, type StatsScope } from '../../store/contract/stats.ts'
import { findSchedules, nameOf, schedulesOf, within } from './found-schedules.ts'
import { lateSchedules } from './late-schedules.ts'
import type { Look } from './look.ts'

/** What is asked for: the rule, and its alerts that are not over, whose subjects are looked at one by one. */
export interface Question<Kind extends RuleKind> {
  readonly rule: RuleOf<Kind>
  readonly alerts: readonly Alert[]
}

const HOUR_MS = 3_600_000
const MAX_FAILED = 500
const RUN_PAGE = 500
const MAX_RUN_PAGES = 10
/** Jobs whose usual duration is read in one pass. */
const MAX_JOBS = 50
/** Runs that are planned ahead stand before those that ended. */
const AHEAD = 20

type Gather<Kind extends RuleKind> = (look: Look, question: Question<Kind>) => Promise<FactsOf<Kind>>

const GATHER: { readonly [Kind in RuleKind]: Gather<Kind> } = {
  schedule_not_fired: lateSchedules,

  async failed_in_a_row(look, { rule, alerts }) {
    const { count } = rule.settings
    const failed = await failedLately(look, rule)
    const names = new Map<string, NamedSchedule>()
    for (const { schedule, workspace } of failed)
      if (schedule) names.set(schedule.id, { id: schedule.id, workspace, key: schedule.key })
    for (const each of await schedulesOf(look, alerts)) names.set(each.id, nameOf(each))
    const latest = await look.store.history.latest([...names.keys()], count + AHEAD)
    const schedules = [...names.values()].map((each) => {
      const states = (latest.get(each.id) ?? []).map(({ state }) => state)
      return { ...each, ends: states.filter((state) => state === 'failed' || state === 'succeeded') }
    })
    return { schedules }
  },

  async failure_rate(look, { rule }) {
    const stats = await sums(look, rule)
    return { ...partOf(rule), succeeded: total(stats, 'succeeded'), failed: total(stats, 'failed') }
  },

  async run_too_long(look, { rule }) {
    const runs: Run[] = []
    for (const { name: queue, running } of await look.queues()) {
      if (running === 0) continue
      runs.push(...(await runsAtWork(look, { ...within(rule), queue })))
    }
    const begun = runs.filter(({ startedAt }) => startedAt !== null)
    const long = begun.filter(({ startedAt }) => look.now - startedAt! > rule.settings.atLeastMs)
    const jobs = [...new Set(long.map(({ job }) => job))].slice(0, MAX_JOBS)
    const usual = new Map<string, { p95Ms: number; count: number }>()
    for (const job of jobs) {
      const { durations } = merged(await look.stats(`job:${job}`, DAY_MS))
      const count = durations.reduce((sum, each) => sum + each, 0)
      usual.set(job, { p95Ms: quantile(DURATION_BOUNDS, durations, 0.95) ?? 0, count })
    }
    const live = begun.map((run) => {
      const { id, workspace, job, schedule, startedAt } = run
      return {
        id,
        workspace,
        job,
        schedule: schedule?.key ?? null,
        startedAt: startedAt!,
        timeoutMs: timeoutOf(run),
      }
    })
    return { runs: live, usual }
  },

  missed: async (look, { rule }) => ({ ...partOf(rule), missed: total(await sums(look, rule), 'missed') }),
  double_fire: async (look, { rule }) => ({ ...partOf(rule), doubled: total(await sums(look, rule), 'doubled') }),
  queue_age: async (look) => ({ queues: await look.queues() }),
  no_worker: async (look) => ({ queues: await look.queues() }),

  async lateness_p99(look, { rule }) {
    const { lateness } = merged(await sums(look, rule))
    const count = lateness.reduce((sum, each) => sum + each, 0)
    return { ...partOf(rule), p99Ms: quantile(LATENESS_BOUNDS, lateness, 0.99) ?? 0, count }
  },

  clock_skew: async (look) => ({ node: look.node, skewMs: look.skewMs }),

  async planner_stalled(look, { rule }) {
    const [overdue] = await findSchedules(look, { overdueMs: rule.settings.afterMs }, 1)
    const locks = await look.locks()
    const led = locks.some(({ name, until }) => name === 'planner' && until > look.now)
    const planners = (await look.workers()).filter(({ roles }) => roles.includes('scheduler')).length
    const { schedules: count } = await look.store.stats.sizes()
    return { schedules: count, led, planners, overdue: overdue ? nameOf(overdue) : null }
  },

  async schedule_quarantined(look, { rule, alerts }) {
    const found = await findSchedules(look, { ...within(rule), quarantined: true })
    const again = (await schedulesOf(look, alerts)).filter(({ id }) => !found.some((each) => each.id === id))
    const all = [...found, ...again].filter(({ quarantine }) => quarantine !== null)
    return {
      schedules: all.map((each) => ({
        ...nameOf(each),
        code: each.quarantine!.code,
        message: each.quarantine!.message,
      })),
    }
  },

  leadership_flapping: async (look, { rule }) => ({ changes: await look.plannerChanges(rule.settings.windowMs) }),

  async dead_letter_growth(look, { rule }) {
    return { ...partOf(rule), failed: total(await sums(look, rule), 'failed') }
  },
}

export function gather<Kind extends RuleKind>(look: Look, question: Question<Kind>): Promise<FactsOf<Kind>> {
  const one: Gather<Kind> = GATHER[question.rule.kind]
  return one(look, question)
}

/**
 * The newest runs that failed. As many are asked for as are known to have failed within the hour, so that history is not
 * read from end to end in search of the next one.
 */
async function failedLately(look: Look, { workspace }: { readonly workspace: string }): Promise<readonly Run[]> {
  const scope: StatsScope = workspace === '' ? 'all' : `workspace:${workspace}`
  const limit = Math.min(MAX_FAILED, total(await look.stats(scope, HOUR_MS), 'failed'))
  if (limit === 0) return []
  return look.store.history.runs({ ...within({ workspace }), states: ['failed'] }, { limit })
}

/** What was handed over may take as long as was agreed then, however long an attempt may take by itself. */
const timeoutOf = ({ workerId, leaseUntil, startedAt, policy }: Run): number | null =>
  workerId === null && leaseUntil !== null ? leaseUntil - startedAt! : (policy.timeoutMs ?? null)

/** The longest at work come last, so all are looked at, within reason. */
async function runsAtWork(look: Look, filter: RunFilter): Promise<readonly Run[]> {
  const runs: Run[] = []
  for (let i = 0; i < MAX_RUN_PAGES; i++) {
    const after = runs.at(-1)
    const page = { limit: RUN_PAGE, ...(after ? { after } : {}) }
    const found = await look.store.history.runs({ ...filter, states: ['running'] }, page)
    runs.push(...found)
    if (found.length < RUN_PAGE) break
  }
  return runs
}

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

const sums = (look: Look, rule: Summing): Promise<readonly Stats[]> => look.stats(scopeOf(rule), rule.settings.windowMs)

const total = (stats: readonly Stats[], of: 'succeeded' | 'failed' | 'missed' | 'doubled'): number =>
  stats.reduce((sum, each) => sum + each[of], 0)
