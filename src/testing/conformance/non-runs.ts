/** The record of what became no run: neighbours that say the same are one range, everything else stays apart, and a span finds what reaches into it. */
import { expect } from 'vitest'
import type { NonRun } from '../../plan/non-run.ts'
import type { NonRunFilter, NonRunPlace } from '../../store/contract/history.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { MINUTE, nonRun, planFor, putNew } from './samples.ts'

/** Records each in a plan of its own. */
async function record(store: Store, key: string, nonRuns: readonly NonRun[]): Promise<void> {
  for (const one of nonRuns) {
    const schedule = (await store.schedules.get('default', key))!
    const plan = planFor(schedule, 0, { nonRuns: [one], watermarkAt: one.toAt, nextAt: schedule.nextAt! + 1 })
    expect(await store.planning.record([plan])).toEqual(['recorded'])
  }
}

/** The minutes from one to another, after the minute before. */
const minutes = (from: number, to: number, change: Partial<NonRun> = {}): NonRun =>
  nonRun({
    ...{ fromAt: from * MINUTE, toAt: to * MINUTE, count: to - from + 1, afterAt: (from - 1) * MINUTE },
    ...change,
  })

const told = async (store: Store, id: string, ...span: [number, number] | []): Promise<number[][]> => {
  const [afterAt, untilAt] = span
  const found = await store.history.nonRuns(
    id,
    afterAt === undefined ? undefined : { afterAt: afterAt * MINUTE, untilAt: untilAt! * MINUTE },
  )
  return found.map(({ fromAt, toAt, count }) => [fromAt / MINUTE, toAt / MINUTE, count])
}

export const nonRunsGroup: Group = (promise) => {
  promise('grows the record before it that says the same', { kills: 'every non-run is a row' }, async ({ store }) => {
    const { id } = await putNew(store)
    const [first, second, third] = [minutes(1, 3), minutes(4, 4), minutes(5, 9)]
    await record(store, 'sync', [first, second, third])
    expect(await told(store, id)).toEqual([[1, 9, 9]])
    expect(await store.history.nonRuns(id)).toMatchObject([{ state: 'missed', reason: 'window', detail: '' }])
  })

  promise(
    'keeps apart what has another reason, other words or another schedule',
    { kills: 'a record grows by what says something else' },
    async ({ store }) => {
      const [{ id }, other] = [await putNew(store), await putNew(store, { key: 'other' })]
      await record(store, 'other', [minutes(1, 1)])
      await record(store, 'sync', [
        minutes(2, 2),
        minutes(3, 3, { reason: 'limit' }),
        minutes(4, 4, { state: 'skipped', reason: 'excluded', detail: '2026-12-25' }),
        minutes(5, 5, { state: 'skipped', reason: 'excluded', detail: '2026-12-26' }),
        minutes(6, 6, { state: 'skipped', reason: 'excluded', detail: '2026-12-26' }),
      ])
      expect(await told(store, id)).toEqual([
        [2, 2, 1],
        [3, 3, 1],
        [4, 4, 1],
        [5, 6, 2],
      ])
      expect(await told(store, other.id)).toEqual([[1, 1, 1]])
    },
  )

  promise(
    'keeps apart what has an occurrence between',
    { kills: 'a record grows over an occurrence that ran' },
    async ({ store }) => {
      const { id } = await putNew(store)
      await record(store, 'sync', [minutes(1, 2), minutes(4, 5), minutes(6, 6, { afterAt: null })])
      expect(await told(store, id)).toEqual([
        [1, 2, 2],
        [4, 5, 2],
        [6, 6, 1],
      ])
    },
  )

  promise(
    'grows with what a resume passed over, too',
    { kills: 'a resume records beside the record' },
    async ({ store }) => {
      const { id, revision } = await putNew(store)
      const words = { state: 'skipped', reason: 'paused', detail: 'by ana: outage' } as const
      await record(store, 'sync', [minutes(1, 2, words)])
      await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
      const change = { revision, nextAt: null, watermarkAt: 4 * MINUTE, nonRuns: [minutes(3, 4, words)], by: 'ana' }
      expect(await store.schedules.resume('default', 'sync', change)).toBe(true)
      expect(await told(store, id)).toEqual([[1, 4, 4]])
    },
  )

  promise(
    'finds the records that reach into a span',
    { kills: 'a span finds whole records only' },
    async ({ store }) => {
      const { id } = await putNew(store)
      await record(store, 'sync', [minutes(10, 20), minutes(30, 40), minutes(50, 60)])
      const [a, b, c] = [
        [10, 20, 11],
        [30, 40, 11],
        [50, 60, 11],
      ]
      expect(await told(store, id)).toEqual([a, b, c])
      expect(await told(store, id, 0, 100)).toEqual([a, b, c])
      expect(await told(store, id, 32, 35)).toEqual([b])
      expect(await told(store, id, 20, 30)).toEqual([b])
      expect(await told(store, id, 19, 29)).toEqual([a])
      expect(await told(store, id, 20, 29)).toEqual([])
      expect(await told(store, id, 39, 50)).toEqual([b, c])
    },
  )

  promise(
    'lists ranges newest first, page by page, with what their schedule says',
    { kills: 'a page of non-runs repeats or loses one' },
    async ({ store }) => {
      const workspaces = ['t_1', 't_2']
      const ids: string[] = []
      for (const workspace of workspaces) {
        const { id } = await putNew(store, { workspace, job: `job of ${workspace}`, queue: 'slow' })
        ids.push(id)
        const reasons = ['window', 'limit', 'policy'] as const
        for (const [i, reason] of reasons.entries()) {
          const schedule = (await store.schedules.get(workspace, 'sync'))!
          // Both schedules have ranges that end at the same instants.
          const one = minutes(10 * i + 1, 10 * i + 3, { reason, afterAt: null })
          const plan = planFor(schedule, 0, { nonRuns: [one], watermarkAt: one.toAt, nextAt: schedule.nextAt! + 1 })
          expect(await store.planning.record([plan])).toEqual(['recorded'])
        }
      }
      const newestFirst = [23, 13, 3].flatMap((to) =>
        ids
          .toSorted()
          .reverse()
          .map((id) => [to, id]),
      )
      const seen: [number, string][] = []
      for (let after: NonRunPlace | null | undefined; after !== null; ) {
        const { nonRuns, next } = await store.history.findNonRuns({}, { limit: 2, ...(after ? { after } : {}) })
        expect(nonRuns.length).toBeLessThanOrEqual(2)
        for (const { toAt, scheduleId } of nonRuns) seen.push([toAt / MINUTE, scheduleId])
        after = next
      }
      expect(seen).toEqual(newestFirst)
      const { nonRuns } = await store.history.findNonRuns({ scheduleId: ids[0]! }, { limit: 1 })
      expect(nonRuns).toMatchObject([
        {
          scheduleId: ids[0],
          workspace: 't_1',
          key: 'sync',
          job: 'job of t_1',
          queue: 'slow',
          reason: 'policy',
          count: 3,
        },
      ])
    },
  )

  promise(
    'finds ranges by what their schedule says, also when it was removed',
    { kills: 'a range is lost with its schedule' },
    async ({ store }) => {
      const { id } = await putNew(store, { workspace: 't_1', job: 'close', queue: 'slow' })
      const other = await putNew(store, { workspace: 't_2' })
      for (const [workspace, one] of [
        ['t_1', minutes(1, 3)],
        ['t_1', minutes(5, 5, { state: 'skipped', reason: 'paused' })],
        ['t_2', minutes(1, 1)],
      ] as const) {
        const schedule = (await store.schedules.get(workspace, 'sync'))!
        const plan = planFor(schedule, 0, { nonRuns: [one], watermarkAt: one.toAt, nextAt: schedule.nextAt! + 1 })
        expect(await store.planning.record([plan])).toEqual(['recorded'])
      }
      await store.schedules.remove('t_1', 'sync', 'ana')
      const found = async (filter: NonRunFilter): Promise<number[]> =>
        (await store.history.findNonRuns(filter, { limit: 10 })).nonRuns.map(({ toAt }) => toAt / MINUTE)
      expect(await found({})).toEqual([5, 3, 1])
      expect(await found({ scheduleId: id })).toEqual([5, 3])
      expect(await found({ workspace: 't_1' })).toEqual([5, 3])
      expect(await found({ workspace: 't_1', states: ['skipped'] })).toEqual([5])
      expect(await found({ job: 'close' })).toEqual([5, 3])
      expect(await found({ queue: 'slow', states: ['missed'] })).toEqual([3])
      expect(await found({ scheduleId: other.id, workspace: 't_1' })).toEqual([])
      expect(await found({ scheduleId: 'no id' })).toEqual([])
    },
  )
}
