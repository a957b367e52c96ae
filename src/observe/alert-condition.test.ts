import { describe, expect, it } from 'vitest'
import { conditionsOf, ownJob } from './alert-condition.ts'
import type { FactsOf } from './alert-facts.ts'
import type { RuleKind, RuleOf } from './alert-rule.ts'
import { defaultRule } from './read-alert-rule.ts'

const NOW = Date.parse('2027-01-01T12:00:00Z')
const SECOND = 1000
const MINUTE = 60_000
const nightly = { id: 's1', workspace: 'acme', key: 'nightly' }
const fleet = { of: '', workspace: '' }
const queue = {
  ...{ name: 'mail', ready: 4, paused: false, workers: 1, namedBy: '' },
  ...{ oldestDueAt: NOW - 10 * MINUTE, waitedMs: 10 * MINUTE },
}
const run = {
  id: 'r1',
  workspace: 'acme',
  job: 'mail',
  schedule: { id: 's1', key: 'nightly' },
  startedAt: NOW - 10 * MINUTE,
  timeoutMs: null,
}
const usual = (p95Ms: number, count = 100, medianMs = p95Ms) =>
  new Map([[ownJob({ workspace: run.workspace, job: 'mail' }), { medianMs, p95Ms, count }]])

const well = { schedules: 1, led: true, planners: 1, idleMs: 0, overdue: null }
const typo = { workspace: 'acme', job: 'typo', queue: 'mail', runs: 1, forMs: 61 * SECOND }

/** What the default rule of a kind complains of. */
const subjects = <Kind extends RuleKind>(kind: Kind, facts: FactsOf<Kind>): string[] =>
  conditionsOf(defaultRule(kind) as RuleOf<Kind>, facts, NOW).map(({ subject }) => subject)

describe('a rule complains', () => {
  it.each([
    ['past its grace', 61 * SECOND, ['schedule s1']],
    ['within its grace', 60 * SECOND, []],
    ['that nobody could have noticed yet', 0, []],
  ])('of a schedule that has not fired, %s', (_, lateMs, expected) => {
    for (const because of ['not planned', 'not started'] as const)
      expect(
        subjects('schedule_not_fired', { late: [{ ...nightly, sinceAt: NOW - 9 * MINUTE, lateMs, because }] }),
      ).toEqual(expected)
  })

  const failure = {
    ...{ workspace: 'acme', job: 'mail', schedule: { id: 's1', key: 'nightly' }, runId: 'r1' },
    ...{ failedAt: NOW - 10 * MINUTE, error: 'TypeError: x', succeededAt: null },
  }
  it.each<[string, object, readonly string[]]>([
    ['of a schedule', {}, ['schedule s1']],
    ['of a job without a schedule', { schedule: null }, ['job acme/mail']],
    ['after an older success', { succeededAt: NOW - 11 * MINUTE }, ['schedule s1']],
    ['before a success', { succeededAt: NOW - 9 * MINUTE }, []],
    ['a moment ago, before a success', { failedAt: NOW - 20 * SECOND, succeededAt: NOW - SECOND }, ['schedule s1']],
  ])('of a run that failed for good: %s', (_, change, expected) => {
    expect(subjects('run_failed', { failed: [{ ...failure, ...change }] })).toEqual(expected)
  })

  it('of a failed run by job, schedule and error', () => {
    const rule = defaultRule('run_failed') as RuleOf<'run_failed'>
    expect(conditionsOf(rule, { failed: [failure] }, NOW)).toMatchObject([
      {
        title: 'Schedule acme/nightly failed',
        values: { job: 'mail', schedule: 'acme/nightly', run: 'r1', error: 'TypeError: x' },
        happenedAt: failure.failedAt,
      },
    ])
  })

  const silent = {
    ...nightly,
    ...{ sinceAt: NOW - 10 * MINUTE, silentMs: 10 * MINUTE, nthAt: NOW - 7 * MINUTE },
    ...{ succeeded: true, longestMs: SECOND, running: null },
  }
  it.each<[string, object, number]>([
    ['three occurrences and ten minutes after its last', {}, 1],
    ['before three occurrences came due', { nthAt: NOW + MINUTE }, 0],
    ['that has not three occurrences more', { nthAt: null }, 0],
    ['of which nobody could have noticed', { silentMs: 4 * MINUTE }, 0],
    ['whose runs take four minutes', { longestMs: 4 * MINUTE }, 0],
    ['whose runs take three minutes', { longestMs: 3 * MINUTE }, 1],
    ['that never succeeded', { succeeded: false, longestMs: 0 }, 1],
  ])('of a schedule without a success: %s', (_, change, expected) => {
    expect(subjects('no_success', { schedules: [{ ...silent, ...change }] })).toHaveLength(expected)
  })

  const stretch = { p99Ms: 20_000, count: 100, late: 5 }
  const many = { ...fleet, ...stretch, stretches: [stretch, stretch] }
  it.each<[string, object, number]>([
    ['that go on', {}, 1],
    ['that are two in all', { late: 2 }, 0],
    ['in one stretch only', { stretches: [stretch] }, 0],
    ['that were over in the newest stretch', { stretches: [stretch, { p99Ms: 5, count: 100, late: 0 }] }, 0],
    ['of too few runs', { count: 19 }, 0],
    ['within the limit', { p99Ms: 15_000 }, 0],
  ])('of late starts %s', (_, change, expected) => {
    expect(subjects('lateness_p99', { ...many, ...change })).toHaveLength(expected)
  })

  const failedOver = { id: 'f1', cause: 'timeline', mayHaveLost: true, from: NOW - 3 * SECOND, to: NOW }

  it.each([
    [['failed', 'failed', 'failed'], 1],
    [['failed', 'failed', 'failed', 'failed', 'succeeded'], 1],
    [['failed', 'failed'], 0],
    [['failed', 'failed', 'succeeded', 'failed'], 0],
    [['succeeded', 'failed', 'failed', 'failed'], 0],
    [[], 0],
  ] as const)('of three failures in a row: %j', (ends, expected) => {
    expect(subjects('failed_in_a_row', { schedules: [{ ...nightly, ends }] })).toHaveLength(expected)
  })

  it.each([
    [18, 2, 1],
    [19, 1, 0],
    [9, 10, 0],
    [0, 20, 1],
    [0, 0, 0],
  ])('of a rate of failures: %i succeeded, %i failed', (succeeded, failed, expected) => {
    expect(subjects('failure_rate', { ...fleet, succeeded, failed })).toHaveLength(expected)
  })

  it.each([
    ['three times the p95', run, usual(3 * MINUTE), 1],
    ['less than three times the p95', run, usual(4 * MINUTE), 0],
    ['a p95 of too few', run, usual(MINUTE, 19), 0],
    ['no p95 at all', run, new Map(), 0],
    ['a minute at least', { ...run, startedAt: NOW - 50 * SECOND }, usual(5), 0],
    ['90 % of its timeout', { ...run, timeoutMs: 11 * MINUTE }, new Map(), 1],
    ['less of its timeout', { ...run, timeoutMs: 12 * MINUTE }, new Map(), 0],
  ])('of a run that takes long: %s', (_, each, known, expected) => {
    expect(subjects('run_too_long', { runs: [each], usual: known, ofSchedule: new Map() })).toHaveLength(expected)
  })

  it.each([
    ['ten times as long as usual', null, { medianMs: 59 * SECOND, count: 3 }, 1],
    ['less than that', null, { medianMs: 61 * SECOND, count: 3 }, 0],
    ['ten times what two runs took', null, { medianMs: SECOND, count: 2 }, 0],
    ['ten times as long with a timeout', 60 * MINUTE, { medianMs: SECOND, count: 9 }, 0],
  ])('of a run without a timeout that takes %s', (_, timeoutMs, own, expected) => {
    const facts = { runs: [{ ...run, timeoutMs }], usual: new Map(), ofSchedule: new Map([['s1', own]]) }
    expect(subjects('run_too_long', facts)).toHaveLength(expected)
  })

  it.each([
    ['ten times as long as its job usually does', null, null, 59 * SECOND, 3, 1],
    ['less than that', null, null, 61 * SECOND, 3, 0],
    ['ten times what two runs took', null, null, SECOND, 2, 0],
    ['ten times as long with a timeout', 60 * MINUTE, null, SECOND, 9, 0],
    ['ten times as long as its job, and not as its schedule', null, run.schedule, SECOND, 9, 0],
  ])('of a run without a schedule and a timeout that takes %s', (_, timeoutMs, of, medianMs, count, expected) => {
    const runs = [{ ...run, schedule: of, timeoutMs }]
    const ofSchedule = new Map([['s1', { medianMs: 2 * MINUTE, count: 9 }]])
    expect(subjects('run_too_long', { runs, usual: usual(medianMs, count), ofSchedule })).toHaveLength(expected)
  })

  it.each([
    ['missed', { ...fleet, missed: 1 }, ['the fleet']],
    ['missed', { ...fleet, missed: 0 }, []],
    ['missed', { of: '', workspace: 'acme', missed: 1 }, ['workspace acme']],
    ['double_fire', { ...fleet, doubled: 1 }, ['the fleet']],
    ['double_fire', { ...fleet, doubled: 0 }, []],
    ['clock_skew', { node: 'n', skewMs: -2001 }, ['node n']],
    ['clock_skew', { node: 'n', skewMs: 2000 }, []],
    ['leadership_flapping', { changes: 6 }, ['planner']],
    ['leadership_flapping', { changes: 5 }, []],
    ['dead_letter_growth', { of: 'job mail', workspace: '', failed: 101 }, ['job mail']],
    ['dead_letter_growth', { ...fleet, failed: 100 }, []],
    ['schedule_quarantined', { schedules: [{ ...nightly, code: 'CRON_NAME', message: 'x' }] }, ['schedule s1']],
    ['schedule_quarantined', { schedules: [] }, []],
    ['queue_age', { queues: [queue] }, ['queue mail']],
    ['queue_age', { queues: [{ ...queue, waitedMs: 5 * MINUTE }] }, []],
    ['queue_age', { queues: [{ ...queue, oldestDueAt: null }] }, []],
    ['queue_age', { queues: [{ ...queue, paused: true }] }, []],
    ['no_worker', { queues: [{ ...queue, workers: 0 }] }, ['queue mail']],
    ['no_worker', { queues: [queue] }, []],
    ['no_worker', { queues: [{ ...queue, workers: 0, waitedMs: 30 * SECOND }] }, []],
    ['queue_depth', { queues: [{ ...queue, ready: 501 }] }, ['queue mail']],
    ['queue_depth', { queues: [{ ...queue, ready: 500 }] }, []],
    ['queue_depth', { queues: [{ ...queue, ready: 501, paused: true }] }, []],
    ['queue_depth', { queues: [{ ...queue, ready: 501, waitedMs: 59 * SECOND }] }, []],
    ['no_worker', { queues: [{ ...queue, workers: 0, paused: true }] }, []],
    ['planner_stalled', { ...well, overdue: { ...nightly, lateMs: 31 * SECOND } }, ['planner']],
    ['planner_stalled', { ...well, overdue: { ...nightly, lateMs: 30 * SECOND } }, []],
    ['planner_stalled', { ...well, led: false, planners: 0, idleMs: 31 * SECOND }, ['planner']],
    ['planner_stalled', { ...well, led: false, planners: 0, idleMs: 30 * SECOND }, []],
    ['planner_stalled', { ...well, led: false, idleMs: 31 * SECOND }, []],
    ['planner_stalled', { ...well, schedules: 0, led: false, planners: 0, idleMs: 31 * SECOND }, []],
    ['orphaned_rows', { expired: { runs: 2, forMs: 61 * SECOND }, unknownJobs: [] }, ['leases']],
    ['orphaned_rows', { expired: { runs: 2, forMs: 60 * SECOND }, unknownJobs: [] }, []],
    ['orphaned_rows', { expired: { runs: 0, forMs: 0 }, unknownJobs: [typo] }, ['job typo mail']],
    ['orphaned_rows', { expired: { runs: 0, forMs: 0 }, unknownJobs: [{ ...typo, forMs: 60 * SECOND }] }, []],
    ['cleanup_failing', { planners: 1, silentMs: 16 * MINUTE, error: 'disk full' }, ['cleanup']],
    ['cleanup_failing', { planners: 1, silentMs: 15 * MINUTE, error: 'disk full' }, []],
    ['store_failed_over', { failovers: [failedOver] }, ['failover f1']],
    ['store_failed_over', { failovers: [{ ...failedOver, mayHaveLost: false }] }, []],
    ['store_failed_over', { failovers: [{ ...failedOver, to: NOW - 61 * MINUTE }] }, []],
    ['cleanup_failing', { planners: 0, silentMs: 16 * MINUTE, error: null }, []],
  ] as const)('by %s: %j', (kind, facts, expected) => {
    expect(subjects(kind, facts as FactsOf<typeof kind>)).toEqual(expected)
  })

  it('in words that stay the same while numbers change', () => {
    const rule = defaultRule('queue_age') as RuleOf<'queue_age'>
    const [now] = conditionsOf(rule, { queues: [queue] }, NOW)
    const [later] = conditionsOf(rule, { queues: [{ ...queue, ready: 99 }] }, NOW + MINUTE)
    expect(later!.title).toBe(now!.title)
    expect(later!.values).not.toEqual(now!.values)
  })
})
