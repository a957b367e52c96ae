import { describe, expect, it } from 'vitest'
import type { Json } from '../json.ts'
import { jitterMs } from '../schedule/jitter.ts'
import type { Schedule, TimingSpec } from '../schedule/schedule.ts'
import { slotsOf } from '../schedule/slots.ts'
import { type Audited, type AuditedRange, type AuditedRun, type AuditFacts, audit } from './audit.ts'
import { type Change, definitionPeriods, timelineOf } from './definition-periods.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const firing = { overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null } as const
const every = (everyMs: number): TimingSpec => ({ kind: 'interval', everyMs, anchorAt: 0 })
const minutely = every(MINUTE)

interface Case {
  readonly timing?: TimingSpec
  readonly edits?: readonly { readonly atMinute: number; readonly before: TimingSpec; readonly after: TimingSpec }[]
  readonly runs?: readonly AuditedRun[]
  readonly nonRuns?: readonly AuditedRange[]
  readonly change?: Partial<AuditFacts>
}

function audited({ timing = minutely, edits = [], runs = [], nonRuns = [], change = {} }: Case): Audited {
  const changes = edits.map(({ atMinute, before, after }, i): Change => {
    const at = atMinute * MINUTE
    const words = { before: { timing: before } as unknown as Json, after: { timing: after } as unknown as Json }
    return { kind: 'edited', revision: i + 2, at, cutAt: at, by: 'ana', ...words }
  })
  const named = { workspace: 'default', key: 'sync' }
  const dates = { createdAt: 0, updatedAt: 0, sinceAt: 0, createdBy: 'ana' }
  const schedule = { ...named, ...dates, timing, firing, revision: edits.length + 1 } as Schedule
  const periods = definitionPeriods(schedule, changes, 0)
  const span = { afterAt: 0, untilAt: 10 * MINUTE }
  const facts = { periods, timeline: timelineOf(periods, named), nonRuns, span, watermarkAt: 10 * MINUTE, done: false }
  return audit({ ...facts, ...change }, runs)
}

const run = (minute: number, change: Partial<AuditedRun> = {}): AuditedRun => ({
  ...{ scheduledAt: minute * MINUTE, trigger: 'schedule', revision: 1, state: 'succeeded', startedAt: minute * MINUTE },
  ...change,
})
const runs = (...minutes: number[]): AuditedRun[] => minutes.map((minute) => run(minute))
const range = (from: number, to: number, count = to - from + 1): AuditedRange => ({
  ...{ fromAt: from * MINUTE, toAt: to * MINUTE, count },
})
const CLEAN = { lost: 0, doubled: 0, unexplained: 0 }

/** The figures, and the minutes of the offences where there are any. */
function shown({ lost, doubled, unexplained, ...figures }: Audited) {
  const minutes = ({ count, first }: { count: number; first: readonly number[] }) =>
    count === 0 ? 0 : first.map((at) => at / MINUTE)
  return { ...figures, lost: minutes(lost), doubled: minutes(doubled), unexplained: minutes(unexplained) }
}

describe('an audit finds', () => {
  const whole = { backfills: 0, pending: 0, ...CLEAN }
  it.each<[string, Case, Partial<ReturnType<typeof shown>>]>([
    ['every minute a run', { runs: runs(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) }, { ...whole, expected: 10, runs: 10 }],
    [
      'runs and a record between',
      { runs: runs(1, 2, 9, 10), nonRuns: [range(3, 8)] },
      { ...whole, runs: 4, nonRuns: 6 },
    ],
    ['a record of all', { nonRuns: [range(1, 10)] }, { ...whole, runs: 0, nonRuns: 10 }],
    ['records side by side', { nonRuns: [range(1, 4), range(5, 10)] }, { ...whole, nonRuns: 10 }],
    ['a record that reaches out of the span', { nonRuns: [range(1, 20)] }, { ...whole, nonRuns: 10 }],
    ['what is lost at both ends and between', { runs: runs(2, 3, 5) }, { lost: [1, 4, 6, 7, 8, 9, 10], runs: 3 }],
    ['what is lost beside records', { nonRuns: [range(2, 4), range(6, 9)] }, { lost: [1, 5, 10], nonRuns: 7 }],
    [
      'two runs of one occurrence',
      { runs: runs(1, 2, 2), nonRuns: [range(3, 10)] },
      { doubled: [2], runs: 2, lost: 0 },
    ],
    ['a run and a record', { runs: runs(1, 2), nonRuns: [range(2, 10)] }, { doubled: [2], runs: 2, nonRuns: 8 }],
    ['two records', { nonRuns: [range(1, 6), range(5, 10)] }, { doubled: [5, 6], nonRuns: 10, lost: 0 }],
    ['a record within another', { nonRuns: [range(1, 10), range(5, 5)] }, { doubled: [5], nonRuns: 10 }],
    [
      'a run between minutes',
      { runs: [run(1.5)], nonRuns: [range(1, 10)] },
      { unexplained: [1.5], runs: 0, doubled: 0 },
    ],
    ['a record from between minutes', { nonRuns: [range(0.5, 10, 10)] }, { unexplained: [0.5], lost: 0 }],
    ['a record that counts too many', { nonRuns: [range(1, 10, 11)] }, { unexplained: [1], lost: 0 }],
    ['a record that counts too few', { nonRuns: [range(1, 10, 9)] }, { unexplained: [1], lost: 0 }],
    [
      'a backfill beside a record and beside a run, as extra',
      { runs: [run(1), run(1, { trigger: 'backfill' }), run(2, { trigger: 'backfill' })], nonRuns: [range(2, 10)] },
      { ...whole, runs: 1, nonRuns: 9, backfills: 2 },
    ],
    [
      'that a backfill alone does not account for an occurrence',
      { runs: [run(1, { trigger: 'backfill' })], nonRuns: [range(2, 10)] },
      { lost: [1], backfills: 1 },
    ],
    [
      'what was caught up',
      { runs: [run(10, { trigger: 'catch_up' })], nonRuns: [range(1, 9)] },
      { ...whole, runs: 1, nonRuns: 9 },
    ],
    [
      'a run that was cancelled ahead of time and then passed over by a pause',
      { runs: [run(5, { state: 'cancelled', startedAt: null })], nonRuns: [range(1, 10)] },
      { ...whole, runs: 0, nonRuns: 10 },
    ],
    [
      'a run cancelled while it worked, which a record denies',
      { runs: [run(5, { state: 'cancelled' })], nonRuns: [range(1, 10)] },
      { doubled: [5] },
    ],
  ])('%s', (_, given, expected) => {
    const found = shown(audited(given))
    expect(found).toMatchObject(expected)
    const lost = typeof found.lost === 'number' ? 0 : found.lost.length
    expect(found.runs + found.nonRuns + lost).toBe(found.expected)
  })

  it('what is not planned yet, and that a schedule which made all its runs has no more', () => {
    const change = { watermarkAt: 4 * MINUTE }
    expect(shown(audited({ runs: runs(1, 2, 3, 4), change }))).toMatchObject({ ...CLEAN, expected: 4, pending: 6 })
    expect(audited({ runs: runs(1, 2, 3, 4), change: { ...change, done: true } }).pending).toBe(0)
    const early = audited({ change: { watermarkAt: -1 } })
    expect(shown(early)).toMatchObject({ ...CLEAN, expected: 0, pending: 10 })
  })
})

describe('an audit across edits', () => {
  const edits = [{ atMinute: 4, before: minutely, after: every(3 * MINUTE) }]
  const timing = every(3 * MINUTE)

  it('expects of each era what its definition names', () => {
    const after = [run(6, { revision: 2 }), run(9, { revision: 2 })]
    expect(shown(audited({ timing, edits, runs: [...runs(1, 2, 3, 4), ...after] }))).toMatchObject({
      ...CLEAN,
      expected: 6,
    })
    expect(shown(audited({ timing, edits, runs: runs(1, 2, 3) }))).toMatchObject({ lost: [4, 6, 9] })
  })

  it('knows a run that an older definition had planned ahead', () => {
    const ahead = run(5, { state: 'cancelled', startedAt: null })
    const nonRuns = [range(1, 4), range(6, 9, 2)]
    expect(shown(audited({ timing, edits, runs: [ahead], nonRuns }))).toMatchObject({ ...CLEAN, runs: 0, nonRuns: 6 })
    const phantom = run(5, { revision: 2 })
    expect(shown(audited({ timing, edits, runs: [phantom], nonRuns }))).toMatchObject({ unexplained: [5] })
  })

  it('takes a record that grew over an edit by what it counts on both sides', () => {
    expect(shown(audited({ timing, edits, nonRuns: [range(1, 9, 6)] }))).toMatchObject({ ...CLEAN, nonRuns: 6 })
    // 4 ran, and the new definition, which does not know it, saw 6 come right after 3.
    expect(shown(audited({ timing, edits, runs: runs(4), nonRuns: [range(1, 9, 5)] }))).toMatchObject({
      ...CLEAN,
      runs: 1,
    })
    expect(shown(audited({ timing, edits, nonRuns: [range(1, 9, 5), range(4, 4)] }))).toMatchObject(CLEAN)
  })
})

describe('an audit of special timings', () => {
  const berlin: TimingSpec = { kind: 'cron', cron: '30 2 * * *', timezone: 'Europe/Berlin', dst: { gap: 'skip' } }
  const days = (from: string, to: string) => ({ afterAt: Date.parse(from), untilAt: Date.parse(to) })

  it('counts the occurrence that a clock change left out, which wants a record', () => {
    const span = days('2027-03-27T00:00:00Z', '2027-03-30T00:00:00Z')
    const change = { span, watermarkAt: span.untilAt }
    const [a, gap, b] = ['2027-03-27T01:30:00Z', '2027-03-28T01:00:00Z', '2027-03-29T00:30:00Z'].map(Date.parse)
    const both = [run(a! / MINUTE), run(b! / MINUTE)]
    expect(audited({ timing: berlin, runs: both, change }).lost).toEqual({ count: 1, first: [gap] })
    const nonRuns = [{ fromAt: gap!, toAt: gap!, count: 1 }]
    expect(shown(audited({ timing: berlin, runs: both, nonRuns, change }))).toMatchObject({
      ...CLEAN,
      expected: 3,
      nonRuns: 1,
    })
  })

  it('goes by the nominal instant, so that jitter changes nothing', () => {
    const jitter = { max: { ms: 30_000 }, per: 'occurrence' } as const
    const late = runs(1, 2, 3, 4, 5, 6, 7, 8, 9, 10).map((one) => {
      const slot = { at: one.scheduledAt, nextAt: one.scheduledAt + MINUTE }
      return { ...one, startedAt: one.scheduledAt + jitterMs(jitter, 'default/sync', slot) }
    })
    expect(late.some(({ startedAt, scheduledAt }) => startedAt > scheduledAt)).toBe(true)
    expect(shown(audited({ runs: late }))).toMatchObject({ ...CLEAN, runs: 10 })
  })

  it('wants records of what comes after the last run that a limit allows, as far as the watermark', () => {
    const given = { runs: runs(1, 2), nonRuns: [range(3, 6)] }
    expect(shown(audited({ ...given, change: { watermarkAt: 6 * MINUTE, done: true } }))).toMatchObject({
      ...{ ...CLEAN, expected: 6, runs: 2, nonRuns: 4, pending: 0 },
    })
  })

  it('takes excluded occurrences, and those before the start, for occurrences', () => {
    const timing: TimingSpec = { ...minutely, startAt: 3 * MINUTE, endAt: 8 * MINUTE }
    const given = { timing, runs: runs(3, 4, 5, 6, 7, 8), nonRuns: [range(1, 2)] }
    expect(shown(audited(given))).toMatchObject({ ...CLEAN, expected: 8, nonRuns: 2 })
  })

  it('walks to the first hundred offences only, and counts the rest: thirty days of seconds', () => {
    const timing: TimingSpec = { kind: 'cron', cron: '* * * * * *', timezone: 'Europe/Berlin' }
    const span = { afterAt: Date.parse('2027-03-10T00:00:00Z'), untilAt: Date.parse('2027-04-09T00:00:00Z') }
    const change = { span, watermarkAt: span.untilAt }
    const seconds = (30 * DAY) / 1000
    const lost = audited({ timing, change }).lost
    expect([lost.count, lost.first.length, lost.first[99]]).toEqual([seconds, 100, span.afterAt + 100_000])
    const nonRuns = [{ fromAt: span.afterAt + 1000, toAt: span.untilAt, count: seconds }]
    expect(shown(audited({ timing, nonRuns, change }))).toMatchObject({ ...CLEAN, expected: seconds, nonRuns: seconds })
    expect(slotsOf(timing, 'x').countAt(span.afterAt, span.untilAt)).toBe(seconds)
  })
})
