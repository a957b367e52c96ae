/** Reads for people: every run wherever it stands, pages that neither repeat nor lose one, and the journal in its order. */
import { expect } from 'vitest'
import type { Run } from '../../run/run.ts'
import type { RunFilter } from '../../store/contract/history.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import {
  againIn,
  claimed,
  enqueued,
  FAILED,
  HOUR,
  MINUTE,
  newId,
  newRun,
  nonRun,
  planFor,
  plannedAhead,
  putNew,
  running,
  SUCCEEDED,
  settled,
  settlement,
} from './samples.ts'

const found = async (store: Store, filter: RunFilter): Promise<string[]> =>
  (await store.history.runs(filter, { limit: 100 })).map(({ id }) => id).sort()

/** Ids begin with an instant. */
const newestFirst = (a: Run, b: Run): number => (a.id < b.id ? 1 : -1)

export const historyGroup: Group = (promise) => {
  promise('finds no run that is not there', { kills: 'a missing run is made up' }, async ({ store }) => {
    expect(await store.history.run(newId())).toBeNull()
    expect(await store.history.runs({}, { limit: 10 })).toEqual([])
    expect(await store.history.journal({ runId: newId() })).toEqual([])
    expect(await store.history.nonRuns(newId())).toEqual([])
  })

  promise(
    'tells how runs stand wherever they are, and leaves out those that are not there',
    { kills: 'a missing run is made up' },
    async ({ store }) => {
      const ended = await running(store, { queue: 'q' })
      await settled(store, ended, FAILED)
      const live = await running(store, { queue: 'q' })
      const waiting = await enqueued(store, { queue: 'q' })
      const states = await store.history.states([live.id, newId(), 'nonsense', ended.id, waiting])
      expect(Object.fromEntries(states)).toEqual({ [live.id]: 'running', [ended.id]: 'failed', [waiting]: 'pending' })
      expect(await store.history.states([])).toEqual(new Map())
    },
  )

  promise(
    'takes what cannot be an id for a run that is not there',
    { kills: 'a mistyped id is an error of the database' },
    async ({ store }) => {
      for (const id of ['', 'nonsense', "' or true --", `${newId()}0`]) {
        expect(await store.history.run(id)).toBeNull()
        expect(await store.history.journal({ runId: id })).toEqual([])
        expect(await store.runs.cancel(id, 'ana')).toBe('not_found')
        expect(await store.runs.retry([id], 'ana')).toEqual([])
      }
    },
  )

  promise(
    'filters live and finished runs alike',
    { kills: 'a filter forgets the finished runs' },
    async ({ store, advance }) => {
      const { schedule, ids } = await plannedAhead(store, 2, { workspace: 't_1', job: 'close', queue: 'slow' })
      await advance(MINUTE)
      const [planned] = await claimed(store, { wanted: [{ queue: 'slow', limit: 1 }] })
      await settled(store, planned!, SUCCEEDED)
      const failed = await running(store, { queue: 'q', job: 'ping' })
      await settled(store, failed, FAILED)
      const live = await running(store, { workspace: 't_2', queue: 'q' })
      const waiting = await enqueued(store, { workspace: 't_2', job: 'ping', queue: 'q' })
      expect(await found(store, {})).toEqual([...ids, failed.id, live.id, waiting].sort())
      expect(await found(store, { workspace: 't_1' })).toEqual([...ids].sort())
      expect(await found(store, { workspace: 't_2' })).toEqual([live.id, waiting].sort())
      expect(await found(store, { scheduleId: schedule.id })).toEqual([...ids].sort())
      expect(await found(store, { job: 'ping' })).toEqual([failed.id, waiting].sort())
      expect(await found(store, { queue: 'q' })).toEqual([failed.id, live.id, waiting].sort())
      expect(await found(store, { states: ['failed'] })).toEqual([failed.id])
      expect(await found(store, { states: ['running', 'succeeded'] })).toEqual([ids[0]!, live.id].sort())
      expect(await found(store, { states: ['pending'], queue: 'slow' })).toEqual([ids[1]])
      expect(await found(store, { states: ['cancelled'] })).toEqual([])
      expect(await found(store, { scheduleId: schedule.id, job: 'ping' })).toEqual([])
    },
  )

  promise(
    'pages through live and finished runs in one order',
    { kills: 'a page begins at the wrong place' },
    async ({ store, advance }) => {
      for (let batch = 0; batch < 3; batch += 1) {
        await store.runs.enqueue(Array.from({ length: 5 }, () => newRun()))
        const runs = await claimed(store, { wanted: [{ queue: 'default', limit: 3 }] })
        await store.claims.settle(runs.slice(1).map((run) => settlement(run, SUCCEEDED)))
        await advance(1000)
      }
      const pages: Run[] = []
      for (let after: Run | undefined; ; after = pages.at(-1)) {
        const page = await store.history.runs({}, { limit: 4, ...(after ? { after } : {}) })
        pages.push(...page)
        if (page.length < 4) break
      }
      expect(pages).toHaveLength(15)
      expect(new Set(pages.map(({ id }) => id)).size).toBe(15)
      expect(pages.map(({ id }) => id)).toEqual(pages.toSorted(newestFirst).map(({ id }) => id))
      expect(new Set(pages.map(({ state }) => state))).toEqual(new Set(['pending', 'running', 'succeeded']))
    },
  )

  promise(
    'pages inside a filter',
    { kills: 'a filter is applied after the page is cut' },
    async ({ store, advance }) => {
      for (let i = 0; i < 6; i += 1) {
        await enqueued(store, { job: i % 2 ? 'odd' : 'even' })
        await advance(1000)
      }
      const first = await store.history.runs({ job: 'odd' }, { limit: 2 })
      const rest = await store.history.runs({ job: 'odd' }, { limit: 2, after: first[1]! })
      expect([first.length, rest.length]).toEqual([2, 1])
      expect(new Set([...first, ...rest].map(({ job }) => job))).toEqual(new Set(['odd']))
    },
  )

  promise(
    'finds runs look by look, each once and in one order, whatever is asked for',
    { kills: 'a look goes on from the wrong place, or says too early that there is no more' },
    async ({ store, advance }) => {
      const { schedule } = await plannedAhead(store, 4, { workspace: 't_1', job: 'close' })
      await advance(HOUR)
      await enqueued(store, { workspace: 't_1', job: 'close' })
      for (let batch = 0; batch < 3; batch += 1) {
        await store.runs.enqueue(Array.from({ length: 4 }, () => newRun({ job: batch % 2 ? 'odd' : 'even' })))
        const runs = await claimed(store, { wanted: [{ queue: 'default', limit: 4 }] })
        await store.claims.settle(runs.slice(1).map((run, i) => settlement(run, i === 0 ? FAILED : SUCCEEDED)))
        await advance(1000)
      }
      const all = await store.history.runs({}, { limit: 100 })
      const filters: readonly [RunFilter, (run: Run) => boolean][] = [
        [{}, () => true],
        [{ workspace: 't_1' }, (run) => run.workspace === 't_1'],
        [{ job: 'odd' }, (run) => run.job === 'odd'],
        [{ queue: 'nowhere' }, () => false],
        [{ scheduleId: schedule.id }, (run) => run.schedule?.id === schedule.id],
        [{ states: ['failed'] }, (run) => run.state === 'failed'],
        [{ states: ['pending', 'succeeded'] }, (run) => run.state === 'pending' || run.state === 'succeeded'],
        [
          { scheduleId: schedule.id, workspace: 't_1', states: ['succeeded', 'failed'] },
          (run) => run.schedule?.id === schedule.id && (run.state === 'succeeded' || run.state === 'failed'),
        ],
      ]
      expect(all).toHaveLength(17)
      for (const [filter, fits] of filters) {
        const seen: string[] = []
        for (let after: { readonly id: string } | null | undefined; after !== null; ) {
          const { runs, next } = await store.history.find(filter, { limit: 2, ...(after ? { after } : {}) })
          expect(runs.length).toBeLessThanOrEqual(2)
          seen.push(...runs.map(({ id }) => id))
          after = next
        }
        expect(seen).toEqual(all.filter(fits).map(({ id }) => id))
      }
    },
  )

  promise(
    'tells the journal of a run from the oldest entry on',
    { kills: 'the journal comes in no order' },
    async ({ store, advance }) => {
      const run = await running(store)
      await settled(store, run, againIn(0))
      await advance(1000)
      await settled(store, run, SUCCEEDED)
      await advance(1000)
      const [again] = await claimed(store, { wanted: [{ queue: run.queue, limit: 1 }] })
      await store.runs.cancel(run.id, 'ana')
      await advance(1000)
      await settled(store, again!, againIn(HOUR, false))
      const journal = await store.history.journal({ runId: run.id })
      expect(journal.map(({ kind }) => kind)).toEqual(['retry', 'refused', 'cancel_requested', 'released'])
      expect(journal.map(({ at }) => at)).toEqual(journal.map(({ at }) => at).toSorted((a, b) => a - b))
      expect(journal.map(({ runId }) => runId)).toEqual(journal.map(() => run.id))
    },
  )

  promise(
    'tells the journal of a schedule with what befell its runs',
    { kills: 'an entry forgets its schedule' },
    async ({ store, advance }) => {
      const { schedule } = await plannedAhead(store, 1)
      await advance(MINUTE)
      const [run] = await claimed(store)
      await settled(store, run!, againIn(0))
      const journal = await store.history.journal({ scheduleId: schedule.id })
      expect(journal).toMatchObject([{ kind: 'retry', runId: run!.id, scheduleId: schedule.id }])
      expect(await store.history.journal({ scheduleId: newId() })).toEqual([])
    },
  )

  promise(
    'tells non-runs from the oldest on, each to its own schedule',
    { kills: 'non-runs of all schedules are told together' },
    async ({ store, advance }) => {
      const schedules = [await putNew(store, { key: 'a' }), await putNew(store, { key: 'b' })]
      for (const at of [1000, 2000]) {
        for (const schedule of schedules) {
          const now = (await store.schedules.get('default', schedule.key))!
          const nonRuns = [nonRun({ fromAt: at, toAt: at, count: 1 })]
          await store.planning.record([planFor(now, 0, { nonRuns, watermarkAt: at, nextAt: now.nextAt! + 1 })])
        }
        await advance(MINUTE)
      }
      const told = await store.history.nonRuns(schedules[0]!.id)
      expect(told).toMatchObject([{ fromAt: 1000 }, { fromAt: 2000 }])
      expect(told).toMatchObject([{ scheduleId: schedules[0]!.id }, { scheduleId: schedules[0]!.id }])
    },
  )
}
