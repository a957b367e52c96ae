import { describe, expect, it } from 'vitest'
import type { Run } from '../run/run.ts'
import type { Schedule, TimingSpec } from '../schedule/schedule.ts'
import { type Change, definitionPeriods, timelineOf } from './definition-periods.ts'
import { fateOf } from './why.ts'
import { checksOf } from './why-checks.ts'
import type { WhyFacts } from './why-facts.ts'

const HOUR = 3_600_000
const firing = { overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null } as const
const berlin: TimingSpec = { kind: 'cron', cron: '30 2 * * *', timezone: 'Europe/Berlin' }
const SLOT = Date.parse('2026-11-14T01:30:00Z')
const [ID, OTHER] = ['0190163d-8694-739b-aea5-966c26f8ad90', '0190163d-0000-739b-aea5-966c26f8ad90']

const run = (change: Partial<Run> = {}): Run =>
  ({
    ...{ id: ID, queue: 'mail', state: 'succeeded', trigger: 'schedule', scheduledAt: SLOT, dueAt: SLOT },
    ...{ group: 'lane', readiness: 'ready', createdAt: SLOT - 10_000, attempt: 1, fence: 1, workerId: 'w3' },
    ...{ startedAt: SLOT + 41, finishedAt: SLOT + 900, error: null, policy: { retry: { attempts: 3 } } },
    ...change,
  }) as Run

type Given = Partial<WhyFacts> & { readonly with?: Partial<Schedule>; readonly changes?: readonly Change[] }

function factsOf({ with: change = {}, changes = [], ...given }: Given): WhyFacts {
  const schedule = {
    ...{
      id: 'id',
      workspace: 'default',
      key: 'nightly',
      queue: 'mail',
      timing: berlin,
      firing,
      revision: 1,
      runCount: 0,
    },
    ...{ createdAt: SLOT - 240 * HOUR, createdBy: 'ana', sinceAt: SLOT - 240 * HOUR, updatedAt: 0, updatedBy: 'ana' },
    ...{ catchUp: { catchUp: 'latest', windowMs: 24 * HOUR, limit: 100 }, pause: null, quarantine: null },
    ...{ nextAt: SLOT + 24 * HOUR, watermarkAt: SLOT },
    ...change,
  } as Schedule
  const periods = definitionPeriods(schedule, changes, 0)
  const worker = { id: 'w3', roles: ['scheduler', 'worker'], queues: { mail: 2 } }
  return {
    ...{ schedule, periods, timeline: timelineOf(periods, schedule), at: SLOT, now: SLOT + HOUR, forgottenAt: 0 },
    ...{
      run: null,
      deleted: null,
      backfill: null,
      nonRun: null,
      before: null,
      queue: null,
      workers: [worker],
      journal: [],
    },
    ...given,
  }
}

const nonRun = (change: Partial<NonNullable<WhyFacts['nonRun']>>): NonNullable<WhyFacts['nonRun']> => ({
  ...{ state: 'skipped', reason: 'paused', detail: '', fromAt: SLOT, toAt: SLOT, count: 1, recordedAt: SLOT + 43 },
  ...change,
})
const waiting = { state: 'pending', startedAt: null, finishedAt: null, attempt: 0, fence: 0, workerId: null } as const
const pause = { by: 'ana', reason: 'stocktaking', at: SLOT - HOUR, until: null }

describe('an occurrence', () => {
  it.each<[string, Given, string, RegExp]>([
    [
      'that ran',
      { run: run() },
      'ran',
      /^It ran: run 0190163d-8694\S+ succeeded at the first attempt, started 41ms after/,
    ],
    ['that was caught up', { run: run({ trigger: 'catch_up' }) }, 'ran', /^It ran late, by catch-up: run/],
    [
      'that was handed over',
      { run: run({ state: 'running', workerId: null }) },
      'running',
      /^It is running: run \S+ was handed over to an external system, .* not completed it; it started 59m59s ago, /,
    ],
    ['that works', { run: run({ state: 'running' }) }, 'running', /^It is running: run \S+ on w3 for 59m59s/],
    [
      'that failed',
      { run: run({ state: 'failed', attempt: 3, error: { name: 'Error', message: 'no disk' } }) },
      ...(['failed', /gave up after 3 attempts: no disk\.$/] as const),
    ],
    [
      'that was cancelled',
      { run: run({ state: 'cancelled', startedAt: null }) },
      ...(['cancelled', /^It was cancelled before it started/] as const),
    ],
    [
      'whose run was deleted',
      {
        deleted: { id: OTHER, state: 'succeeded', startedAt: SLOT, by: 'ana', at: SLOT },
      },
      ...(['ran deleted', /^It ran: run 0190163d-0000\S+, which ana deleted at 2\S+Z\.$/] as const),
    ],
    [
      'that waits behind another',
      { run: run({ ...waiting, readiness: 'blocked' }), before: run({ id: OTHER, state: 'running' }) },
      ...(['waiting overlap', /^It waits behind run 0190163d-0000\S+, which is running/] as const),
    ],
    [
      'in a paused queue',
      { run: run(waiting), queue: { pause: { by: 'ben', reason: 'smtp is down', at: SLOT } } },
      ...(['waiting queue_paused', /queue "mail" was paused by ben \(smtp is down\)\.$/] as const),
    ],
    ['without workers', { run: run(waiting), workers: [] }, 'waiting no_worker', /^It waits: no live worker serves/],
    ['in a long queue', { run: run(waiting) }, 'waiting queued', /^It has waited for a free worker .* for 1h: run/],
    [
      'that failed and comes again',
      { run: run({ ...waiting, attempt: 1, fence: 1, dueAt: SLOT + 2 * HOUR }) },
      ...(['waiting retry', /^It waits for attempt 2: .* is due again at 2026-11-14T03:30:00/] as const),
    ],
    [
      'that jitter puts off',
      { run: run({ ...waiting, dueAt: SLOT + 60_000 }), now: SLOT + 1000 },
      ...(['waiting jitter', /^It is planned: .* is due at 2026-11-14T01:31:00/] as const),
    ],
    [
      'that is planned ahead',
      { run: run(waiting), now: SLOT - 5000 },
      ...(['future planned', /^It is planned: .* is due at 2026-11-14T01:30:00/] as const),
    ],
    [
      'that came due while another worked',
      {
        nonRun: nonRun({ reason: 'overlap', detail: OTHER }),
        before: run({ id: OTHER, state: 'running', startedAt: SLOT - 24 * HOUR }),
      },
      ...([
        'skipped overlap',
        /run 0190163d-0000\S+, started 2026-11-13T01:30:00\S+ on w3, was unfinished .* 'skip'\.$/,
      ] as const),
    ],
    [
      'during a pause',
      { nonRun: nonRun({ detail: 'by ana: stocktaking', count: 5 }) },
      ...(['skipped paused', /^It was skipped, as one of 5: the schedule was paused by ana: stocktaking\.$/] as const),
    ],
    [
      'before the start',
      { nonRun: nonRun({ reason: 'before_start', detail: '2026-12-01' }) },
      'skipped before_start',
      /starts at/,
    ],
    [
      'on a holiday',
      { nonRun: nonRun({ reason: 'excluded', detail: '2026-11-14' }) },
      'skipped excluded',
      /excludes it by 2026/,
    ],
    [
      'in a gap',
      { nonRun: nonRun({ reason: 'dst_gap', detail: 'Europe/Berlin' }) },
      'skipped dst_gap',
      /clock change in Europe\/Berlin/,
    ],
    ['after the last', { nonRun: nonRun({ reason: 'max_runs' }) }, 'skipped max_runs', /had reached maxRuns/],
    ['that an edit took', { nonRun: nonRun({ reason: 'edited' }) }, 'skipped edited', /an edit changed the timing/],
    ['too old', { nonRun: nonRun({ state: 'missed', reason: 'window' }) }, 'missed window', /catch-up window of 1d\.$/],
    ['one too many', { nonRun: nonRun({ state: 'missed', reason: 'limit' }) }, 'missed limit', /the newest 100\.$/],
    ['not the latest', { nonRun: nonRun({ state: 'missed', reason: 'policy' }) }, 'missed policy', /catchUp 'latest'/],
    [
      'cancelled ahead and then passed over',
      { run: run({ state: 'cancelled', startedAt: null }), nonRun: nonRun({}) },
      ...(['skipped paused', /^It was skipped/] as const),
    ],
    [
      'that a backfill covers',
      { nonRun: nonRun({ state: 'missed', reason: 'policy' }), backfill: run({ id: OTHER, trigger: 'backfill' }) },
      ...(['missed policy', /A backfill covers it: run 0190163d-0000\S+ \(succeeded\)\.$/] as const),
    ],
    ['in the future', { now: SLOT - HOUR, with: { watermarkAt: 0 } }, 'future', /^It is in the future: due in 1h\.$/],
    [
      'of a paused schedule',
      { with: { watermarkAt: 0, pause } },
      'not_planned_yet paused',
      /paused by ana \(stocktaking\)/,
    ],
    [
      'of a schedule in quarantine',
      { with: { watermarkAt: 0, quarantine: { code: 'TIMING_STUCK', message: 'it does not advance', at: 0 } } },
      ...(['not_planned_yet quarantined', /it does not advance/] as const),
    ],
    [
      'without a planner',
      { with: { watermarkAt: 0 }, workers: [] },
      'not_planned_yet no_scheduler',
      /no live process plans/,
    ],
    ['behind the planner', { with: { watermarkAt: 0 } }, 'not_planned_yet', /the planner has not reached it/],
    [
      'after all runs were made',
      { with: { watermarkAt: 0, nextAt: null, runCount: 3, firing: { ...firing, maxRuns: 3 } } },
      ...(['skipped max_runs', /has created all 3 runs/] as const),
    ],
    ['of long ago', { forgottenAt: SLOT + 1 }, 'forgotten', /older than the retention of records/],
    ['that is lost', {}, 'lost', /^It has neither a run nor a record, which should not happen\.$/],
  ])('%s is explained', (_, given, verdict, sentence) => {
    const fate = fateOf(factsOf(given))
    expect(`${fate.verdict} ${fate.reason ?? ''}`.trim()).toBe(verdict)
    expect(fate.sentence).toMatch(sentence)
  })
})

describe('an instant that is not an occurrence', () => {
  it('is explained with its neighbours and the outcome of the one before', () => {
    const fate = fateOf(factsOf({ at: SLOT + 60_000, run: run() }))
    expect(fate).toMatchObject({ verdict: 'not_due', reason: null })
    expect(fate.sentence).toBe(
      '2026-11-14 02:31 Europe/Berlin (2026-11-14T01:31:00Z) is not an occurrence: the one before it is 2026-11-14 02:30 ' +
        'Europe/Berlin (2026-11-14T01:30:00Z), and the next is 2026-11-15 02:30 Europe/Berlin (2026-11-15T01:30:00Z). ' +
        `The one before: it ran: run ${ID} succeeded at the first attempt, started 41ms after it was due.`,
    )
  })

  it('may lie before the creation or after the end', () => {
    expect(fateOf(factsOf({ at: SLOT - 300 * HOUR }))).toMatchObject({ verdict: 'not_due', reason: 'before_creation' })
    const ended = { timing: { ...berlin, endAt: SLOT } }
    const fate = fateOf(factsOf({ with: ended, at: SLOT + 24 * HOUR, run: run() }))
    expect(fate).toMatchObject({ verdict: 'not_due', reason: 'after_end' })
    expect(fate.sentence).toContain('none comes after it')
  })
})

describe('the checklist', () => {
  const shown = (given: Given) =>
    Object.fromEntries(checksOf(factsOf(given)).map(({ name, ok, text }) => [name, { ok, text }]))

  it('of a run goes from the definition to its end', () => {
    const journal = [{ at: SLOT + 500, kind: 'retry' }]
    const checks = checksOf(factsOf({ run: run({ attempt: 2 }), journal }))
    expect(checks.map(({ name, ok }) => `${name} ${ok}`)).toEqual([
      ...['existed true', 'occurrence true', 'revision true', 'definition true', 'pause true', 'planned true'],
      ...['group true', 'claimed true', 'attempts true'],
    ])
    expect(checks.at(-1)!.text).toBe(
      '2 of 3, succeeded; retry at 2026-11-14T01:30:00.500Z, ended at 2026-11-14T01:30:00.900Z',
    )
    expect(checks.find(({ name }) => name === 'claimed')!.text).toBe(
      'claimed by w3 at 2026-11-14T01:30:00.041Z, 41ms after it was due',
    )
  })

  it('names the pause of that time and who began it', () => {
    const at = SLOT - HOUR
    const paused: Change = {
      ...{ kind: 'paused', revision: 1, at, cutAt: at, by: 'ana', before: { pause: null }, after: { pause } },
    }
    const resumed: Change = { ...paused, kind: 'resumed', at: SLOT + 60_000, after: { pause: null } }
    const checks = shown({ changes: [paused, resumed], nonRun: nonRun({ detail: 'by ana: stocktaking' }) })
    expect(checks.pause).toEqual({
      ok: false,
      text: 'paused by ana (stocktaking) since 2026-11-14T00:30:00Z, until 2026-11-14T01:31:00Z',
    })
    expect(checks.record!.text).toBe('recorded as skipped: paused (by ana: stocktaking), at 2026-11-14T01:30:00.043Z')
    expect(shown({ changes: [paused, resumed], at: SLOT + 24 * HOUR, run: run() }).pause!.ok).toBe(true)
  })

  it('shows a clock change nearby, as a failed check where it skipped the occurrence', () => {
    const at = Date.parse('2027-03-28T01:00:00Z')
    const timing: TimingSpec = { ...berlin, dst: { gap: 'skip' } }
    const gap = shown({ with: { timing }, at, nonRun: nonRun({ reason: 'dst_gap', detail: 'Europe/Berlin' }) })
    const text = 'the clocks of Europe/Berlin changed from +01:00 to +02:00 at 2027-03-28T01:00:00Z'
    expect(gap.clock_change).toEqual({ ok: false, text })
    expect(gap.definition).toEqual({ ok: false, text: 'skipped by the clock change in Europe/Berlin' })
    expect(shown({ at, run: run() }).clock_change).toEqual({ ok: null, text })
  })

  it('names the revision that was in force', () => {
    const at = SLOT - HOUR
    const before = { timing: { kind: 'interval', everyMs: HOUR, anchorAt: 0 }, firing } as never
    const edited: Change = { kind: 'edited', revision: 2, at, cutAt: at, by: 'ben', before, after: null }
    expect(shown({ changes: [edited], with: { revision: 2 } }).revision!.text).toBe(
      'defined by revision 2, which ben saved at 2026-11-14T00:30:00Z',
    )
  })
})
