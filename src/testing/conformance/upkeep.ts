/** Forgetting: what is older than its retention leaves, in bounded steps; what is younger, or still at work, stays. */
import { expect } from 'vitest'
import type { Store } from '../../store/contract/store.ts'
import type { Retention } from '../../store/contract/upkeep.ts'
import type { Group } from './harness.ts'
import {
  againIn,
  claimed,
  DAY,
  definitionOf,
  enqueued,
  HOUR,
  MINUTE,
  newRun,
  nonRun,
  planFor,
  plannedAhead,
  putAgain,
  putNew,
  putOf,
  running,
  SUCCEEDED,
  settled,
  settlement,
  statesOf,
} from './samples.ts'

const YEARS = 1000 * DAY
const keeping = (change: Partial<Retention>): Retention => ({
  historyMs: YEARS,
  journalMs: YEARS,
  idempotencyMs: YEARS,
  workersMs: YEARS,
  orphansMs: YEARS,
  endedMs: null,
  ...change,
})

/** Step by step until nothing more is to be done; answers how much left, and in how many steps. */
async function tidied(store: Store, change: Partial<Retention>): Promise<{ removed: number; steps: number }> {
  let removed = 0
  for (let steps = 1; steps <= 100; steps += 1) {
    const step = await store.upkeep.tidy(keeping(change))
    removed += step.removed
    if (!step.more) return { removed, steps }
  }
  throw new Error('tidying did not come to an end')
}

export const upkeepGroup: Group = (promise) => {
  promise(
    'forgets finished runs after their retention, and not before',
    { kills: 'history is never forgotten' },
    async ({ store, advance }) => {
      const run = await running(store)
      await settled(store, run, SUCCEEDED)
      await advance(HOUR)
      await tidied(store, { historyMs: DAY })
      expect(await statesOf(store, [run.id])).toEqual(['succeeded'])
      // By whole days: a store may keep a run until the day it finished on lies outside the retention.
      await advance(2 * DAY)
      const { removed } = await tidied(store, { historyMs: DAY })
      expect(removed).toBeGreaterThan(0)
      expect(await statesOf(store, [run.id])).toEqual([null])
      expect(await store.upkeep.tidy(keeping({ historyMs: DAY }))).toEqual({ removed: 0, counts: {}, more: false })
    },
  )

  promise(
    'says beforehand how much of each kind it would forget, writes nothing, and then forgets that much',
    { kills: 'what is overdue is counted wrongly' },
    async ({ store, advance }) => {
      const schedule = await putNew(store)
      const nonRuns = [nonRun({ fromAt: 1, toAt: 2, count: 2 })]
      await store.planning.record([planFor(schedule, 0, { nonRuns, watermarkAt: 2 })])
      for (let n = 0; n < 3; n++) {
        const run = await running(store, { idempotencyKey: `order-${n}` })
        await settled(store, run, againIn(0))
        const [again] = await claimed(store, { wanted: [{ queue: run.queue, limit: 1 }] })
        await settled(store, again!, SUCCEEDED)
      }
      await advance(10 * DAY)
      const young = await running(store, { idempotencyKey: 'young' })
      await settled(store, young, SUCCEEDED)
      const retention = keeping({ historyMs: 3 * DAY, journalMs: 3 * DAY, idempotencyMs: 3 * DAY })
      expect(await store.upkeep.overdue(keeping({}))).toEqual({})
      const overdue = await store.upkeep.overdue(retention)
      expect(overdue).toMatchObject({ runs: 3, journal: 3, nonRuns: 1, idempotencyKeys: 3 })
      expect(await store.upkeep.overdue(retention)).toEqual(overdue)
      const counts: Partial<Record<string, number>> = {}
      for (let more = true; more; ) {
        const step = await store.upkeep.tidy(retention)
        for (const [kind, rows] of Object.entries(step.counts)) counts[kind] = (counts[kind] ?? 0) + rows
        more = step.more
      }
      expect(counts).toEqual(overdue)
      expect(await store.upkeep.overdue(retention)).toEqual({})
      expect(await statesOf(store, [young.id])).toEqual(['succeeded'])
    },
  )

  promise(
    'goes by when a run finished, not by when it was made',
    { kills: 'retention counts from the creation' },
    async ({ store, advance }) => {
      const old = await running(store)
      await advance(20 * DAY)
      await settled(store, old, SUCCEEDED)
      await tidied(store, { historyMs: 5 * DAY })
      expect(await statesOf(store, [old.id])).toEqual(['succeeded'])
    },
  )

  promise(
    'forgets no run that is still to be done, and no schedule',
    { kills: 'tidying takes live runs' },
    async ({ store, advance }) => {
      const { schedule, ids } = await plannedAhead(store, 1)
      const [waiting, live] = [await enqueued(store, { idempotencyKey: 'order-1' }), await running(store)]
      await advance(100 * DAY)
      await tidied(store, { historyMs: DAY, journalMs: DAY, idempotencyMs: DAY, workersMs: DAY })
      expect(await statesOf(store, [...ids, waiting, live.id])).toEqual(['pending', 'pending', 'running'])
      expect(await store.schedules.get('default', 'sync')).toEqual(schedule)
      expect(await store.claims.expired(10)).toMatchObject([{ id: live.id }])
    },
  )

  promise(
    'forgets the journal and non-runs after their retention',
    { kills: 'the journal is never forgotten' },
    async ({ store, advance }) => {
      const schedule = await putNew(store)
      const nonRuns = [nonRun({ fromAt: 1, toAt: 2, count: 2 })]
      await store.planning.record([planFor(schedule, 0, { nonRuns, watermarkAt: 2 })])
      const run = await running(store)
      await settled(store, run, againIn(HOUR))
      const told = async (): Promise<number[]> => [
        (await store.history.journal({ runId: run.id })).length,
        (await store.history.nonRuns(schedule.id)).length,
      ]
      await advance(HOUR)
      await tidied(store, { journalMs: DAY })
      expect(await told()).toEqual([1, 1])
      await advance(2 * DAY)
      await tidied(store, { journalMs: DAY })
      expect(await told()).toEqual([0, 0])
    },
  )

  promise(
    'forgets an idempotency key after its retention, and then takes it again',
    { kills: 'idempotency keys are never forgotten' },
    async ({ store, advance }) => {
      const first = await enqueued(store, { idempotencyKey: 'order-1' })
      await advance(HOUR)
      await tidied(store, { idempotencyMs: DAY })
      expect(await enqueued(store, { idempotencyKey: 'order-1' })).toBe(first)
      await advance(2 * DAY)
      await tidied(store, { idempotencyMs: DAY })
      const next = newRun({ idempotencyKey: 'order-1' })
      expect(await store.runs.enqueue([next])).toEqual([{ id: next.id, created: true }])
    },
  )

  promise(
    'drops workers that were not seen for long',
    { kills: 'dead workers stay on the list' },
    async ({ store, advance }) => {
      const info = { host: 'h', pid: 1, roles: ['worker'], queues: {}, tzdata: '2026f', busy: 0 } as const
      await store.workers.reportPresence({ id: 'gone', ...info })
      await advance(HOUR)
      await store.workers.reportPresence({ id: 'here', ...info })
      await tidied(store, { workersMs: HOUR / 2 })
      expect(await store.workers.list()).toMatchObject([{ id: 'here' }])
    },
  )

  promise(
    'removes schedules that no code has any more, some time after they were paused for it',
    { kills: 'orphans stay for ever' },
    async ({ store, advance }) => {
      const orphan = await putNew(store, { key: 'orphan' })
      for (const key of ['young', 'theirs', 'active']) await putNew(store, { key })
      const pause = (key: string, by: string): Promise<boolean> =>
        store.schedules.pause('default', key, { reason: 'no code has it', by, until: null })
      await pause('orphan', 'sync')
      await pause('theirs', 'ana')
      await advance(HOUR)
      await pause('young', 'sync')
      await tidied(store, { orphansMs: 2 * HOUR })
      expect(await store.schedules.list({ limit: 10 })).toHaveLength(4)
      await advance(1.5 * HOUR)
      const { removed } = await tidied(store, { orphansMs: 2 * HOUR })
      expect(removed).toBe(1)
      const left = (await store.schedules.list({ limit: 10 })).map(({ key }) => key)
      expect(left).toEqual(['active', 'theirs', 'young'])
      const revisions = await store.history.revisions(orphan.id)
      expect(revisions.map(({ kind }) => kind)).toEqual(['paused', 'removed'])
      expect(await store.planning.due({ lookaheadMs: DAY, limit: 10 })).toMatchObject({
        schedules: [{ key: 'active' }],
      })
    },
  )

  promise(
    'removes schedules that are over after their retention, and leaves every other',
    { kills: 'schedules that are over stay for ever' },
    async ({ store, advance }) => {
      const api = { source: 'api' } as const
      const over = async (key: string, change: Parameters<typeof putNew>[1] = {}): Promise<string> =>
        (await putNew(store, { key, ...api, ...change }, { nextAt: null })).id
      const id = await over('over')
      await over('declared', { source: 'code' })
      await over('paused')
      await store.schedules.pause('default', 'paused', { reason: '', by: 'ana', until: null })
      await over('edited')
      await putNew(store, { key: 'active', ...api })
      const failing = await plannedAhead(store, 1, { key: 'running', ...api })
      const ended = planFor({ ...failing.schedule, nextAt: failing.firstAt + MINUTE }, 0, { nextAt: null })
      expect(await store.planning.record([ended])).toEqual(['recorded'])
      const kept = ['active', 'declared', 'edited', 'over', 'paused', 'running']
      const left = async (): Promise<string[]> => (await store.schedules.list({ limit: 10 })).map(({ key }) => key)
      await advance(20 * DAY)
      await store.schedules.put([putAgain((await store.schedules.get('default', 'edited'))!, { job: 'other' })])
      await tidied(store, { endedMs: 30 * DAY })
      expect(await left()).toEqual(kept)
      await advance(11 * DAY)
      await tidied(store, { endedMs: null })
      expect(await left()).toEqual(kept)
      expect((await tidied(store, { endedMs: 30 * DAY })).removed).toBe(1)
      expect(await left()).toEqual(kept.filter((key) => key !== 'over'))
      expect(await store.history.revisions(id)).toMatchObject([{ kind: 'removed', by: 'everytick' }])
      // Once its last run has ended, nothing of it is to come.
      for (const run of await claimed(store)) await settled(store, run, SUCCEEDED)
      await tidied(store, { endedMs: 30 * DAY })
      expect(await left()).toEqual(['active', 'declared', 'edited', 'paused'])
      expect((await store.history.runs({ scheduleId: failing.schedule.id }, { limit: 10 })).length).toBe(1)
    },
  )

  promise(
    'finds those that are over behind any number that only seem so',
    { kills: 'schedules that are paused hide those that are over' },
    async ({ store, advance }) => {
      const now = await store.now()
      const make = (key: string, paused: boolean) => ({
        ...putOf(definitionOf({ key, source: 'api' }), { watermarkAt: now + (paused ? 0 : 1) }),
        pause: paused ? { reason: '', by: 'ana', until: null } : null,
      })
      await store.schedules.put(Array.from({ length: 600 }, (_, i) => make(`paused ${i}`, true)))
      await store.schedules.put([make('over', false)])
      await advance(2 * DAY)
      let removed = 0
      for (let pass = 0; pass < 3; pass += 1) removed += (await tidied(store, { endedMs: DAY })).removed
      expect(removed).toBe(1)
      expect(await store.schedules.get('default', 'over')).toBeNull()
    },
  )

  promise(
    'comes to an end over thousands of rows, and leaves none of them',
    { kills: 'tidying stops after its first step' },
    async ({ store, advance }) => {
      for (let batch = 0; batch < 3; batch += 1) {
        const keys = Array.from({ length: 1000 }, (_, i) => `${batch}/${i}`)
        await store.runs.enqueue(keys.map((idempotencyKey) => newRun({ idempotencyKey })))
        const runs = await claimed(store, { wanted: [{ queue: 'default', limit: 1000 }] })
        await store.claims.settle(runs.map((run) => settlement(run, SUCCEEDED)))
      }
      await advance(3 * DAY)
      const { removed } = await tidied(store, { historyMs: DAY, idempotencyMs: DAY })
      expect(removed).toBeGreaterThan(0)
      expect(await store.history.runs({}, { limit: 10 })).toEqual([])
      const again = newRun({ idempotencyKey: '2/999' })
      expect(await store.runs.enqueue([again])).toEqual([{ id: again.id, created: true }])
    },
  )

  promise(
    'keeps taking results after a long time without upkeep',
    { kills: 'a day that nobody prepared takes no results' },
    async ({ store, advance }) => {
      await advance(90 * DAY)
      const [late, later] = [await running(store), await running(store)]
      expect(await settled(store, late, SUCCEEDED)).toBe('accepted')
      await settled(store, later, againIn(0))
      await tidied(store, { historyMs: 5 * DAY, journalMs: 5 * DAY })
      expect(await statesOf(store, [late.id])).toEqual(['succeeded'])
      expect(await store.history.journal({ runId: later.id })).toHaveLength(1)
      const [again] = await claimed(store, { wanted: [{ queue: later.queue, limit: 1 }] })
      expect(await settled(store, again!, SUCCEEDED)).toBe('accepted')
      await advance(10 * DAY)
      await tidied(store, { historyMs: 5 * DAY, journalMs: 5 * DAY })
      expect(await statesOf(store, [late.id, later.id])).toEqual([null, null])
    },
  )
}
