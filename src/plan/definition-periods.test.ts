import { describe, expect, it } from 'vitest'
import type { Json } from '../json.ts'
import type { Schedule, TimingSpec } from '../schedule/schedule.ts'
import { type Change, definitionPeriods, timelineOf } from './definition-periods.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const every = (everyMs: number): TimingSpec => ({ kind: 'interval', everyMs, anchorAt: 0 })
const firing = { overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null } as const

function scheduleOf(change: Partial<Schedule> = {}): Schedule {
  return {
    ...{ id: 'id', workspace: 'default', key: 'sync', timing: every(MINUTE), firing, revision: 1 },
    ...{ createdAt: 0, createdBy: 'ana', updatedAt: 0, updatedBy: 'ana', sinceAt: 0, watermarkAt: HOUR },
    ...change,
  } as Schedule
}

const edited = (revision: number, cutAt: number, [before, after]: readonly [TimingSpec, TimingSpec]): Change => ({
  ...{ kind: 'edited', revision, at: cutAt, cutAt, by: 'ben' },
  before: { timing: before, firing } as unknown as Json,
  after: { timing: after, firing } as unknown as Json,
})

const paused = (at: number, until: number | null = null): Change => ({
  ...{ kind: 'paused', revision: 1, at, cutAt: at, by: 'ana', before: { pause: null } },
  after: { pause: { reason: 'stocktaking', by: 'ana', at, until } },
})
const resumed = (at: number, by = 'ben'): Change => ({
  ...{ kind: 'resumed', revision: 1, at, cutAt: at, by, before: null, after: { pause: null } },
})

describe('the eras of a schedule', () => {
  it('are one from its creation on when nobody edited it', () => {
    const { list, complete } = definitionPeriods(scheduleOf({ sinceAt: 5 }), [], 0)
    expect(list).toMatchObject([{ afterAt: 5, untilAt: Number.POSITIVE_INFINITY, revision: 1, by: 'ana' }])
    expect(complete).toBe(true)
  })

  it('are parted where edits cut them, each with the definition it had then', () => {
    const [a, b, c] = [every(MINUTE), every(2 * MINUTE), every(5 * MINUTE)]
    const changes = [edited(2, 10 * MINUTE, [a, b]), edited(3, 30 * MINUTE, [b, c])]
    const periods = definitionPeriods(scheduleOf({ timing: c, revision: 3 }), changes, 0)
    expect(periods.list.map(({ afterAt, untilAt, revision }) => [afterAt, untilAt, revision])).toEqual([
      [0, 10 * MINUTE, 1],
      [10 * MINUTE, 30 * MINUTE, 2],
      [30 * MINUTE, Number.POSITIVE_INFINITY, 3],
    ])
    const line = timelineOf(periods, scheduleOf())
    expect(line.countAt(0, HOUR)).toBe(10 + 10 + 6)
    expect(line.nextAt(10 * MINUTE)).toBe(12 * MINUTE)
    expect(line.nextAt(30 * MINUTE)).toBe(35 * MINUTE)
    expect(line.prevAt(12 * MINUTE)).toBe(10 * MINUTE)
    expect(line.prevAt(35 * MINUTE)).toBe(30 * MINUTE)
    expect(line.prevAt(MINUTE)).toBeNull()
    expect([9, 10, 11, 12, 32, 35].map((minute) => line.isSlot(minute * MINUTE))).toEqual([
      ...[true, true, false, true, false, true],
    ])
    expect(line.ofRevision(2).nextAt(0)).toBe(2 * MINUTE)
    expect(line.periodAt(30 * MINUTE)!.revision).toBe(2)
  })

  it('keep an era that had no occurrence, for the runs of its revision', () => {
    const [a, b, c] = [every(MINUTE), every(7 * MINUTE), every(2 * MINUTE)]
    const changes = [edited(2, 10 * MINUTE, [a, b]), edited(3, 9 * MINUTE, [b, c])]
    const line = timelineOf(definitionPeriods(scheduleOf({ timing: c, revision: 3 }), changes, 0), scheduleOf())
    expect([line.nextAt(8 * MINUTE), line.nextAt(9 * MINUTE)]).toEqual([9 * MINUTE, 10 * MINUTE])
    expect(line.countAt(0, 20 * MINUTE)).toBe(9 + 6)
    expect(line.ofRevision(2).nextAt(0)).toBe(7 * MINUTE)
  })

  it('leave out an edit that came after the schedule was read', () => {
    const changes = [edited(2, 10 * MINUTE, [every(MINUTE), every(HOUR)])]
    expect(definitionPeriods(scheduleOf(), changes, 0).list).toHaveLength(1)
  })

  it('begin where knowledge does when older edits are forgotten', () => {
    const schedule = scheduleOf({ revision: 4 })
    expect(definitionPeriods(schedule, [], 5 * HOUR)).toMatchObject({ complete: false, list: [{ afterAt: 5 * HOUR }] })
    const many = Array.from({ length: 1000 }, (_, i) => resumed(HOUR + i))
    expect(definitionPeriods(schedule, many, 0)).toMatchObject({ complete: false, list: [{ afterAt: HOUR }] })
  })
})

describe('the pauses of a schedule', () => {
  it('last from the pause to the resumption, or still', () => {
    const { pauses } = definitionPeriods(scheduleOf(), [paused(1000), resumed(2000), paused(3000)], 0)
    expect(pauses).toEqual([
      { fromAt: 1000, toAt: 2000, by: 'ana', reason: 'stocktaking' },
      { fromAt: 3000, toAt: null, by: 'ana', reason: 'stocktaking' },
    ])
  })

  it('end when they were meant to, though the planner noticed it later', () => {
    expect(definitionPeriods(scheduleOf(), [paused(1000, 1500), resumed(2000)], 0).pauses).toMatchObject([
      { toAt: 1500 },
    ])
  })

  it('go on in newer words when it is paused twice', () => {
    const { pauses } = definitionPeriods(scheduleOf(), [paused(1000), paused(1200), resumed(2000)], 0)
    expect(pauses.map(({ fromAt, toAt }) => [fromAt, toAt])).toEqual([
      [1000, 1200],
      [1200, 2000],
    ])
  })
})
