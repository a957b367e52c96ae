/** Evaluates a rule against its facts: one condition per subject. Pure; `alert-decision.ts` turns conditions into alerts. */
import { formatDuration } from '../time/duration.ts'
import type { AlertValues } from './alert.ts'
import type { FactsOf, FailedSubject, NamedSchedule } from './alert-facts.ts'
import type { RuleKind, RuleOf, RuleSettings } from './alert-rule.ts'

export interface Condition {
  readonly subject: string
  readonly workspace: string
  /** The workspace whose alert limit it counts against, if not `workspace`: names that one workspace invents must not use up the limits of others. */
  readonly share?: string
  /** Stays the same while the condition lasts; changing numbers are in `values`. */
  readonly title: string
  readonly values: AlertValues
  /** When the event happened; an alert that was resolved after this instant does not reopen. */
  readonly happenedAt?: number
}

type Judge<Kind extends RuleKind> = (
  settings: RuleSettings[Kind],
  facts: FactsOf<Kind>,
  now: number,
) => readonly Condition[]

const JUDGES: { readonly [Kind in RuleKind]: Judge<Kind> } = {
  schedule_not_fired: ({ graceMs }, { late }) =>
    late
      .filter(({ lateMs }) => lateMs > graceMs)
      .map((each) => ofSchedule(each, 'has not fired', { since: iso(each.sinceAt), because: each.because })),

  run_failed: (_, { failed }, now) =>
    failed
      .filter(
        ({ failedAt, succeededAt }) =>
          succeededAt === null || succeededAt <= failedAt || now - failedAt < TOLD_AT_LEAST_MS,
      )
      .map(ofFailure),

  no_success: ({ atLeastMs }, { schedules }, now) =>
    schedules
      .filter(
        ({ nthAt, silentMs, longestMs }) =>
          nthAt !== null && nthAt < now && silentMs > Math.max(atLeastMs, longestMs * TIMES_LONGEST),
      )
      .map((each) =>
        ofSchedule(each, 'has had no successful run for too long', {
          since: iso(each.sinceAt),
          succeeded: each.succeeded ? 'before' : 'not recently',
          running: each.running?.id ?? null,
          started: each.running && iso(each.running.startedAt),
        }),
      ),

  failed_in_a_row: ({ count }, { schedules }) =>
    schedules
      .filter(({ ends }) => ends.length >= count && ends.slice(0, count).every((state) => state === 'failed'))
      .map((each) => {
        const first = each.ends.findIndex((state) => state !== 'failed')
        return ofSchedule(each, `failed ${count} times in a row`, { failed: first === -1 ? each.ends.length : first })
      }),

  failure_rate: ({ share, minimum }, { succeeded, failed, ...of }) => {
    const ended = succeeded + failed
    if (ended < minimum || failed / ended < share) return []
    return [ofSums(of, `at least ${percent(share)} of the runs fail`, { failed, ended })]
  },

  run_too_long: ({ factor, timeoutShare, minimum, atLeastMs, untimedFactor }, { runs, usual, ofSchedule }, now) =>
    runs.flatMap((run) => {
      const tookMs = now - run.startedAt
      const known = usual.get(ownJob(run))
      const own = run.schedule ? ofSchedule.get(run.schedule.id) : known
      const limits = [
        run.timeoutMs === null && own && own.count >= MIN_DURATIONS
          ? Math.max(own.medianMs * untimedFactor, atLeastMs)
          : Number.POSITIVE_INFINITY,
        run.timeoutMs === null ? Number.POSITIVE_INFINITY : run.timeoutMs * timeoutShare,
        known && known.count >= minimum ? Math.max(known.p95Ms * factor, atLeastMs) : Number.POSITIVE_INFINITY,
      ]
      const limitMs = Math.min(...limits)
      if (tookMs <= limitMs) return []
      const title = `A run of job ${run.job} takes longer than ${words(limitMs)}`
      const values = {
        run: run.id,
        job: run.job,
        schedule: run.schedule && `${run.workspace}/${run.schedule.key}`,
        started: iso(run.startedAt),
        for: words(tookMs),
      }
      return [{ subject: `run ${run.id}`, workspace: run.workspace, title, values }]
    }),

  missed: (_, { missed, ...of }) => (missed > 0 ? [ofSums(of, 'occurrences were missed', { missed })] : []),

  double_fire: (_, { doubled, ...of }) =>
    doubled > 0 ? [ofSums(of, 'occurrences have more than one run', { doubled })] : [],

  queue_age: ({ ageMs }, { queues }) =>
    queues
      .filter(({ paused, oldestDueAt, waitedMs }) => !paused && oldestDueAt !== null && waitedMs > ageMs)
      .map(({ name, namedBy, ready, oldestDueAt }) => ({
        ...ofFleet(`queue ${name}`, `Runs in queue ${name} have waited for more than ${formatDuration(ageMs)}`, {
          ready,
          oldestDue: iso(oldestDueAt!),
        }),
        share: namedBy,
      })),

  queue_depth: ({ depth, forMs }, { queues }) =>
    queues
      .filter(({ paused, ready, waitedMs }) => !paused && ready > depth && waitedMs > forMs)
      .map(({ name, namedBy, ready, oldestDueAt }) => ({
        ...ofFleet(`queue ${name}`, `More than ${depth} runs wait in queue ${name}`, {
          ready,
          oldestDue: oldestDueAt === null ? null : iso(oldestDueAt),
        }),
        share: namedBy,
      })),

  no_worker: ({ forMs }, { queues }) =>
    queues
      .filter(
        ({ paused, workers, oldestDueAt, waitedMs }) =>
          !paused && workers === 0 && oldestDueAt !== null && waitedMs > forMs,
      )
      .map(({ name, namedBy, ready, oldestDueAt }) => ({
        ...ofFleet(`queue ${name}`, `No worker serves queue ${name}`, { ready, oldestDue: iso(oldestDueAt!) }),
        share: namedBy,
      })),

  // A deployment or an outage makes many runs late once; only continued lateness is worth an alert.
  lateness_p99: ({ limitMs, minimum }, { p99Ms, count, late, stretches, ...of }) => {
    const goesOn = stretches.length >= MIN_STRETCHES && stretches.every((each) => each.p99Ms > limitMs && each.late > 0)
    if (count < minimum || late < MIN_LATE || p99Ms <= limitMs || !goesOn) return []
    const what = `1% of runs start more than ${formatDuration(limitMs)} late`
    return [ofSums(of, what, { p99: words(p99Ms), late, count })]
  },

  clock_skew: ({ limitMs }, { node, skewMs }) => {
    if (Math.abs(skewMs) <= limitMs) return []
    const title = `The clock of node ${node} is off by more than ${formatDuration(limitMs)}`
    return [ofFleet(`node ${node}`, title, { skewMs: Math.round(skewMs) })]
  },

  planner_stalled: ({ afterMs }, { schedules, led, planners, idleMs, overdue }) => {
    const values = { schedules, planners, overdue: overdue && `${overdue.workspace}/${overdue.key}` }
    if (overdue && overdue.lateMs > afterMs) return [ofFleet('planner', 'Planning is behind', values)]
    // Planning may continue without a lease: where every process plans, no lease is needed.
    const isIdle = schedules > 0 && !led && planners === 0 && idleMs > afterMs
    return isIdle ? [ofFleet('planner', 'No process plans schedules', values)] : []
  },

  schedule_quarantined: (_, { schedules }) =>
    schedules.map((each) =>
      ofSchedule(each, 'was quarantined', { code: each.code, message: each.message.slice(0, 200) }),
    ),

  leadership_flapping: (settings, { changes }) =>
    changes > settings.changes
      ? [ofFleet('planner', `The planner changed hands more than ${settings.changes} times`, { changes })]
      : [],

  dead_letter_growth: ({ count }, { failed, ...of }) =>
    failed > count ? [ofSums(of, `more than ${count} runs failed permanently`, { failed })] : [],

  orphaned_rows: ({ forMs }, { expired, unknownJobs }) => [
    ...(expired.runs > 0 && expired.forMs > forMs
      ? [ofFleet('leases', 'No process takes back runs whose lease has expired', { runs: expired.runs })]
      : []),
    ...unknownJobs
      .filter((each) => each.forMs > forMs)
      .map(({ workspace, job, queue, runs }) => ({
        ...ofFleet(`job ${job} ${queue}`, `No worker of queue ${queue} knows job ${job}, so its runs wait`, {
          job,
          queue,
          runs,
        }),
        share: workspace,
      })),
  ],

  cleanup_failing: ({ afterMs }, { planners, silentMs, error }) =>
    planners > 0 && silentMs > afterMs
      ? [ofFleet('cleanup', `Old rows have not been cleaned up for ${formatDuration(afterMs)}`, { error })]
      : [],

  store_failed_over: ({ windowMs }, { failovers }, now) =>
    failovers
      .filter(({ mayHaveLost, to }) => mayHaveLost && to > now - windowMs)
      .map(({ id, from, to, cause }) => {
        const title = 'The database failed over: writes acknowledged shortly before may be missing'
        return ofFleet(`failover ${id}`, title, { from: iso(from), to: iso(to), cause })
      }),
}

/** A failure alerts for at least this long, even if the next run succeeds at once. */
const TOLD_AT_LEAST_MS = 60_000
/** A schedule whose runs take long succeeds less often than it fires. */
const TIMES_LONGEST = 3
/** Minimum number of runs to know the typical duration of a schedule, or of a job without one. */
const MIN_DURATIONS = 3
/** Fewer late starts or periods than this do not alert. */
const MIN_LATE = 3
const MIN_STRETCHES = 2

function ofFailure({ workspace, job, schedule, runId, failedAt, error }: FailedSubject): Condition {
  const values = { job, run: runId, error, failedAt: iso(failedAt) }
  if (schedule) {
    const condition = ofSchedule({ ...schedule, workspace }, 'failed', values)
    return { ...condition, happenedAt: failedAt }
  }
  const title = `A run of job ${job} failed`
  return { subject: failedJobSubject(workspace, job), workspace, title, values, happenedAt: failedAt }
}

/** The subject of an alert about runs of a job that have no schedule. */
export const failedJobSubject = (workspace: string, job: string): string => `job ${workspace}/${job}`

/** The key of a job within its workspace: jobs of the same name in other workspaces are unrelated. */
export const ownJob = ({ workspace, job }: { readonly workspace: string; readonly job: string }): string =>
  JSON.stringify([workspace, job])

export function conditionsOf<Kind extends RuleKind>(
  rule: RuleOf<Kind>,
  facts: FactsOf<Kind>,
  now: number,
): readonly Condition[] {
  const judge: Judge<Kind> = JUDGES[rule.kind]
  return judge(rule.settings, facts, now)
}

const ofFleet = (subject: string, title: string, values: AlertValues): Condition => ({
  subject,
  workspace: '',
  title,
  values,
})

const ofSchedule = ({ id, workspace, key }: NamedSchedule, what: string, values: AlertValues): Condition => ({
  subject: `schedule ${id}`,
  workspace,
  title: `Schedule ${workspace}/${key} ${what}`,
  values: { schedule: `${workspace}/${key}`, ...values },
})

function ofSums(of: { readonly of: string; readonly workspace: string }, what: string, values: AlertValues): Condition {
  const whole = of.workspace === '' ? 'the fleet' : `workspace ${of.workspace}`
  const where = of.of === '' ? whole : of.of
  return { subject: where, workspace: of.workspace, title: `In ${where} ${what}`, values }
}

const iso = (at: number): string => new Date(at).toISOString()
const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`
/** From one second on, whole seconds are precise enough for display. */
const words = (ms: number): string => formatDuration(ms < 1000 ? Math.round(ms) : Math.round(ms / 1000) * 1000)
