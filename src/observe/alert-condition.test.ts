import { describe, expect, it } from 'vitest'
import { conditionsOf } from './alert-condition.ts'
import type { FactsOf } from './alert-facts.ts'
import type { RuleKind, RuleOf } from './alert-rule.ts'
import { defaultRule } from './read-alert-rule.ts'

const NOW = Date.parse('2027-01-01T12:00:00Z')
const SECOND = 1000
const MINUTE = 60_000
const nightly = { id: 's1', workspace: 'acme', key: 'nightly' }
const fleet = { of: '', workspace: '' }
const queue = { name: 'mail', ready: 4, paused: false, workers: 1, oldestDueAt: NOW - 10 * MINUTE }
const run = {
  id: 'r1',
  workspace: 'acme',
  job: 'mail',
  schedule: 'nightly',
  startedAt: NOW - 10 * MINUTE,
  timeoutMs: null,
}
const usual = (p95Ms: number, count = 100) => new Map([['mail', { p95Ms, count }]])

/** What the default rule of a kind complains of. */
const subjects = <Kind extends RuleKind>(kind: Kind, facts: FactsOf<Kind>): string[] =>
  conditionsOf(defaultRule(kind) as RuleOf<Kind>, facts, NOW).map(({ subject }) => subject)

describe('a rule complains', () => {
  it.each([
    ['past its grace', NOW - 61 * SECOND, ['schedule s1']],
    ['within its grace', NOW - 60 * SECOND, []],
    ['in time', NOW + MINUTE, []],
  ])('of a schedule that has not fired, %s', (_, sinceAt, expected) => {
    for (const because of ['not planned', 'not started'] as const)
      expect(subjects('schedule_not_fired', { late: [{ ...nightly, sinceAt, because }], deep: [] })).toEqual(expected)
  })

  it('of a queue as a whole when too much waits in it', () => {
    const deep = [
      { queue: 'mail', workspace: '', sinceAt: NOW - 2 * MINUTE },
      { queue: 'web', workspace: '', sinceAt: NOW - SECOND },
    ]
    expect(subjects('schedule_not_fired', { late: [], deep })).toEqual(['queue mail'])
  })

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
    [10, 10, 1],
    [11, 9, 0],
    [0, 19, 0],
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
    expect(subjects('run_too_long', { runs: [each], usual: known })).toHaveLength(expected)
  })

  it.each([
    ['missed', { ...fleet, missed: 1 }, ['the fleet']],
    ['missed', { ...fleet, missed: 0 }, []],
    ['missed', { of: '', workspace: 'acme', missed: 1 }, ['workspace acme']],
    ['double_fire', { ...fleet, doubled: 1 }, ['the fleet']],
    ['double_fire', { ...fleet, doubled: 0 }, []],
    ['lateness_p99', { ...fleet, p99Ms: 15_001, count: 20 }, ['the fleet']],
    ['lateness_p99', { ...fleet, p99Ms: 15_000, count: 20 }, []],
    ['lateness_p99', { ...fleet, p99Ms: 60_000, count: 19 }, []],
    ['clock_skew', { node: 'n', skewMs: -2001 }, ['node n']],
    ['clock_skew', { node: 'n', skewMs: 2000 }, []],
    ['leadership_flapping', { changes: 7 }, ['planner']],
    ['leadership_flapping', { changes: 6 }, []],
    ['dead_letter_growth', { of: 'job mail', workspace: '', failed: 101 }, ['job mail']],
    ['dead_letter_growth', { ...fleet, failed: 100 }, []],
    ['schedule_quarantined', { schedules: [{ ...nightly, code: 'CRON_NAME', message: 'x' }] }, ['schedule s1']],
    ['schedule_quarantined', { schedules: [] }, []],
    ['queue_age', { queues: [queue] }, ['queue mail']],
    ['queue_age', { queues: [{ ...queue, oldestDueAt: NOW - 5 * MINUTE }] }, []],
    ['queue_age', { queues: [{ ...queue, oldestDueAt: null }] }, []],
    ['queue_age', { queues: [{ ...queue, paused: true }] }, []],
    ['no_worker', { queues: [{ ...queue, workers: 0 }] }, ['queue mail']],
    ['no_worker', { queues: [queue] }, []],
    ['no_worker', { queues: [{ ...queue, workers: 0, oldestDueAt: NOW - 30 * SECOND }] }, []],
    ['no_worker', { queues: [{ ...queue, workers: 0, paused: true }] }, []],
    ['planner_stalled', { schedules: 1, led: true, planners: 1, overdue: nightly }, ['planner']],
    ['planner_stalled', { schedules: 1, led: false, planners: 0, overdue: null }, ['planner']],
    ['planner_stalled', { schedules: 1, led: false, planners: 1, overdue: null }, []],
    ['planner_stalled', { schedules: 0, led: false, planners: 0, overdue: null }, []],
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
