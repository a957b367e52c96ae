/** Decides, purely, of what a rule complains when the facts are these: one condition per subject; what becomes of alerts is `alert-decision.ts`. */
import { formatDuration } from '../time/duration.ts'
import type { AlertValues } from './alert.ts'
import type { FactsOf, NamedSchedule } from './alert-facts.ts'
import type { RuleKind, RuleOf, RuleSettings } from './alert-rule.ts'

export interface Condition {
  readonly subject: string
  readonly workspace: string
  /** The same words for as long as it lasts; what changes stands in the values. */
  readonly title: string
  readonly values: AlertValues
}

type Judge<Kind extends RuleKind> = (
  settings: RuleSettings[Kind],
  facts: FactsOf<Kind>,
  now: number,
) => readonly Condition[]

const JUDGES: { readonly [Kind in RuleKind]: Judge<Kind> } = {
  schedule_not_fired: ({ graceMs }, { late, deep }, now) => [
    ...late
      .filter(({ sinceAt }) => sinceAt < now - graceMs)
      .map((each) => ofSchedule(each, 'has not fired', { since: iso(each.sinceAt), because: each.because })),
    ...deep
      .filter(({ sinceAt }) => sinceAt < now - graceMs)
      .map(({ queue, workspace, sinceAt }) => {
        const title = `Runs of queue ${queue} are due and have not started`
        return { subject: `queue ${queue}`, workspace, title, values: { since: iso(sinceAt) } }
      }),
  ],

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
    return [ofSums(of, `${percent(share)} or more of the runs fail`, { failed, ended })]
  },

  run_too_long: ({ factor, timeoutShare, minimum, atLeastMs }, { runs, usual }, now) =>
    runs.flatMap((run) => {
      const tookMs = now - run.startedAt
      const known = usual.get(run.job)
      const limits = [
        run.timeoutMs === null ? Number.POSITIVE_INFINITY : run.timeoutMs * timeoutShare,
        known && known.count >= minimum ? Math.max(known.p95Ms * factor, atLeastMs) : Number.POSITIVE_INFINITY,
      ]
      const limitMs = Math.min(...limits)
      if (tookMs <= limitMs) return []
      const title = `A run of job ${run.job} takes longer than ${words(limitMs)}`
      const values = {
        run: run.id,
        job: run.job,
        schedule: run.schedule,
        started: iso(run.startedAt),
        for: words(tookMs),
      }
      return [{ subject: `run ${run.id}`, workspace: run.workspace, title, values }]
    }),

  missed: (_, { missed, ...of }) => (missed > 0 ? [ofSums(of, 'occurrences were missed', { missed })] : []),

  double_fire: (_, { doubled, ...of }) =>
    doubled > 0 ? [ofSums(of, 'occurrences have more than one run', { doubled })] : [],

  queue_age: ({ ageMs }, { queues }, now) =>
    queues
      .filter(({ paused, oldestDueAt }) => !paused && oldestDueAt !== null && oldestDueAt < now - ageMs)
      .map(({ name, ready, oldestDueAt }) =>
        ofFleet(`queue ${name}`, `Runs wait in queue ${name} for more than ${formatDuration(ageMs)}`, {
          ready,
          oldestDue: iso(oldestDueAt!),
        }),
      ),

  no_worker: ({ forMs }, { queues }, now) =>
    queues
      .filter(
        ({ paused, workers, oldestDueAt }) =>
          !paused && workers === 0 && oldestDueAt !== null && oldestDueAt < now - forMs,
      )
      .map(({ name, ready, oldestDueAt }) =>
        ofFleet(`queue ${name}`, `No worker serves queue ${name}`, { ready, oldestDue: iso(oldestDueAt!) }),
      ),

  lateness_p99: ({ limitMs, minimum }, { p99Ms, count, ...of }) => {
    if (count < minimum || p99Ms <= limitMs) return []
    return [ofSums(of, `1 of 100 runs starts more than ${formatDuration(limitMs)} late`, { p99: words(p99Ms), count })]
  },

  clock_skew: ({ limitMs }, { node, skewMs }) => {
    if (Math.abs(skewMs) <= limitMs) return []
    const title = `The clock of node ${node} is more than ${formatDuration(limitMs)} off`
    return [ofFleet(`node ${node}`, title, { skewMs: Math.round(skewMs) })]
  },

  planner_stalled: (_, { schedules, led, planners, overdue }) => {
    const values = { schedules, planners, overdue: overdue && `${overdue.workspace}/${overdue.key}` }
    if (overdue) return [ofFleet('planner', 'Planning is behind', values)]
    // Without a lease planning may still go on: where every process plans, nobody needs one.
    return schedules > 0 && !led && planners === 0 ? [ofFleet('planner', 'Nobody plans', values)] : []
  },

  schedule_quarantined: (_, { schedules }) =>
    schedules.map((each) =>
      ofSchedule(each, 'was set aside', { code: each.code, message: each.message.slice(0, 200) }),
    ),

  leadership_flapping: (settings, { changes }) =>
    changes > settings.changes
      ? [ofFleet('planner', `The planner changed hands more than ${settings.changes} times`, { changes })]
      : [],

  dead_letter_growth: ({ count }, { failed, ...of }) =>
    failed > count ? [ofSums(of, `more than ${count} runs failed for good`, { failed })] : [],
}

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
/** Seconds are enough for people, once there are any. */
const words = (ms: number): string => formatDuration(ms < 1000 ? Math.round(ms) : Math.round(ms / 1000) * 1000)
