/** Plans: each is written wholly or not at all, once, and only while its schedule still stands where the planner saw it. */
import { expect } from 'vitest'
import type { NonRun } from '../../plan/non-run.ts'
import type { Group } from './harness.ts'
import {
  claimed,
  DAY,
  MINUTE,
  newId,
  nonRun,
  planFor,
  plannedAhead,
  putAgain,
  putNew,
  SUCCEEDED,
  settled,
  statesOf,
} from './samples.ts'

export const planningRecordGroup: Group = (promise) => {
  promise(
    'writes a plan: its runs, the cursor, the watermark',
    { kills: 'a plan leaves the cursor behind' },
    async ({ store }) => {
      const policy = { retry: { attempts: 9, backoff: 'fixed', baseMs: 1, maxMs: 2 }, timeoutMs: 77 } as const
      const what = { workspace: 't_42', job: 'close', queue: 'slow', payload: { n: [1] }, priority: 8, policy }
      const schedule = await putNew(store, what)
      const plan = planFor(schedule, 2)
      const now = await store.now()
      expect(await store.planning.record([plan])).toEqual(['recorded'])
      const after = (await store.schedules.get('t_42', 'sync'))!
      expect(after).toEqual({ ...schedule, nextAt: plan.nextAt, watermarkAt: plan.watermarkAt, runCount: 2 })
      const run = (await store.history.run(plan.runs[0]!.id))!
      expect(run).toEqual({
        ...what,
        ...plan.runs[0],
        group: null,
        readiness: 'ready',
        state: 'pending',
        schedule: { id: schedule.id, key: 'sync', revision: 1 },
        createdAt: run.createdAt,
        attempt: 0,
        fence: 0,
        claimId: null,
        workerId: null,
        leaseUntil: null,
        startedAt: null,
        finishedAt: null,
        cancelRequested: false,
        idempotencyKey: null,
        result: null,
        error: null,
        progress: null,
      })
      expect(run.createdAt).toBeGreaterThanOrEqual(now)
    },
  )

  promise(
    'parks the cursor when a plan says that nothing follows',
    { kills: 'an exhausted schedule stays due' },
    async ({ store }) => {
      const schedule = await putNew(store, {}, { nextAt: await store.now() })
      await store.planning.record([planFor(schedule, 1, { nextAt: null })])
      expect(await store.planning.due({ lookaheadMs: DAY, limit: 10 })).toMatchObject({ schedules: [], nextAt: null })
    },
  )

  promise('writes the same plan once', { kills: 'a plan does not look at the cursor' }, async ({ store }) => {
    const plan = planFor(await putNew(store), 2)
    expect(await store.planning.record([plan])).toEqual(['recorded'])
    expect(await store.planning.record([plan])).toEqual(['stale'])
    expect(await store.planning.record([{ ...plan, nextAt: plan.nextAt! + DAY }])).toEqual(['stale'])
    expect((await store.schedules.get('default', 'sync'))!.nextAt).toBe(plan.nextAt)
    expect(await store.history.runs({}, { limit: 10 })).toHaveLength(2)
  })

  promise(
    'writes the same plan once for two planners',
    { kills: 'a plan does not look at the cursor', needs: 'second' },
    async ({ store, second }) => {
      const other = await second()
      const plan = planFor(await putNew(store), 2)
      const answers = await Promise.all([store.planning.record([plan]), other.planning.record([plan])])
      expect(answers.flat().sort()).toEqual(['recorded', 'stale'])
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(2)
    },
  )

  promise(
    'writes the same plan once when one call holds it twice',
    { kills: 'a plan is answered for its neighbour' },
    async ({ store }) => {
      const plan = planFor(await putNew(store), 1, { nonRuns: [missed(1)] })
      const answers = await store.planning.record([plan, plan])
      expect(answers.toSorted()).toEqual(['recorded', 'stale'])
      expect(await store.history.nonRuns(plan.scheduleId)).toHaveLength(1)
    },
  )

  promise(
    'decides each plan by its own schedule, and answers in order',
    { kills: 'one stale plan spoils the others' },
    async ({ store }) => {
      const [a, b, c, d] = [
        await putNew(store, { key: 'a' }),
        await putNew(store, { key: 'b' }),
        await putNew(store, { key: 'c' }),
        await putNew(store, { key: 'd' }),
      ]
      const plans = [
        planFor(d, 1),
        planFor(a, 1, { revision: 2 }),
        planFor(b, 1, { expectedNextAt: b.nextAt! + 1, nonRuns: [missed(1)] }),
        planFor({ ...c, id: newId() }, 1),
        planFor(c, 1),
      ]
      expect(await store.planning.record(plans)).toEqual(['recorded', 'stale', 'stale', 'stale', 'recorded'])
      expect(
        await statesOf(
          store,
          plans.map(({ runs }) => runs[0]!.id),
        ),
      ).toEqual(['pending', null, null, null, 'pending'])
      expect(await store.schedules.get('default', 'a')).toEqual(a)
      expect(await store.schedules.get('default', 'b')).toEqual(b)
      expect(await store.history.nonRuns(b.id)).toEqual([])
      expect(await store.planning.record([])).toEqual([])
    },
  )

  promise(
    'leaves nothing of a plan that cannot be written',
    { kills: 'runs and cursor are written apart' },
    async ({ store }) => {
      const schedule = await putNew(store)
      const plan = planFor(schedule, 2)
      const broken = { ...plan, runs: [plan.runs[0]!, { ...plan.runs[1]!, dueAt: Number.NaN }], nonRuns: [missed(1)] }
      await expect(store.planning.record([broken])).rejects.toThrow()
      expect(await store.schedules.get('default', 'sync')).toEqual(schedule)
      expect(
        await statesOf(
          store,
          plan.runs.map(({ id }) => id),
        ),
      ).toEqual([null, null])
      expect(await store.history.nonRuns(schedule.id)).toEqual([])
      expect(await store.planning.record([plan])).toEqual(['recorded'])
    },
  )

  promise(
    'makes one run of one occurrence, even where a plan comes to it again',
    { kills: 'an occurrence may become two runs' },
    async ({ store, advance }) => {
      const schedule = await putNew(store)
      const forgetful = planFor(schedule, 1, { watermarkAt: schedule.watermarkAt, nextAt: schedule.nextAt })
      expect(await store.planning.record([forgetful])).toEqual(['recorded'])
      await advance(MINUTE)
      const [run] = await claimed(store)
      expect(await store.planning.record([planFor(schedule, 2)])).toEqual(['recorded'])
      expect(await store.history.run(run!.id)).toEqual(run)
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(2)
    },
  )

  promise(
    'makes one run of one occurrence, even where a planner names it otherwise',
    { kills: 'an occurrence is known by its id alone' },
    async ({ store }) => {
      const schedule = await putNew(store)
      const forgetful = planFor(schedule, 1, { watermarkAt: schedule.watermarkAt, nextAt: schedule.nextAt })
      expect(await store.planning.record([forgetful])).toEqual(['recorded'])
      const renamed = planFor(schedule, 2).runs.map((run) => ({ ...run, id: newId() }))
      expect(await store.planning.record([planFor(schedule, 2, { runs: renamed })])).toEqual(['recorded'])
      const ids = [forgetful.runs[0]!.id, ...renamed.map(({ id }) => id)]
      expect(await statesOf(store, ids)).toEqual(['pending', null, 'pending'])
    },
  )

  promise(
    'brings back no occurrence that an operator cancelled ahead of time',
    { kills: 'a cancelled occurrence is planned again' },
    async ({ store }) => {
      const { schedule, ids } = await plannedAhead(store, 3)
      expect(await store.runs.cancel(ids[1]!, 'ana')).toBe('cancelled')
      await store.schedules.put([putAgain(schedule, { payload: 'new' })])
      const edited = (await store.schedules.get('default', 'sync'))!
      expect(await store.planning.record([planFor(edited, 3)])).toEqual(['recorded'])
      expect(await statesOf(store, ids)).toEqual(['pending', 'cancelled', 'pending'])
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(3)
    },
  )

  promise(
    'makes no run at or below the watermark, even after history forgot it',
    { kills: 'the watermark is not looked at' },
    async ({ store, advance }) => {
      const { schedule, ids, firstAt } = await plannedAhead(store, 1)
      await advance(MINUTE)
      const [run] = await claimed(store)
      await settled(store, run!, SUCCEEDED)
      await advance(5 * DAY)
      const retention = {
        historyMs: DAY,
        journalMs: DAY,
        idempotencyMs: DAY,
        workersMs: DAY,
        orphansMs: DAY,
        endedMs: null,
      }
      while ((await store.upkeep.tidy(retention)).more);
      expect(await store.history.run(ids[0]!)).toBeNull()
      const back = { ...planFor(schedule, 1), runs: planFor({ ...schedule, nextAt: firstAt }, 1).runs }
      expect(await store.planning.record([{ ...back, watermarkAt: 0 }])).toEqual(['recorded'])
      expect(await store.history.run(ids[0]!)).toBeNull()
      expect((await store.schedules.get('default', 'sync'))!.watermarkAt).toBe(schedule.watermarkAt)
    },
  )

  promise('records occurrences that become no run', { kills: 'non-runs are dropped' }, async ({ store }) => {
    const schedule = await putNew(store)
    const now = await store.now()
    const paused = { state: 'skipped', reason: 'paused', detail: 'by ana: outage', count: 3 } as const
    const nonRuns = [missed(1), { ...missed(5), ...paused }]
    await store.planning.record([planFor(schedule, 0, { nonRuns, watermarkAt: 6000 })])
    const kept = await store.history.nonRuns(schedule.id)
    expect(kept).toEqual(
      nonRuns.map(({ afterAt, ...one }, i) => ({ ...one, scheduleId: schedule.id, recordedAt: kept[i]!.recordedAt })),
    )
    expect(kept[0]!.recordedAt).toBeGreaterThanOrEqual(now)
  })
}

const missed = (at: number): NonRun => nonRun({ fromAt: at * 1000, toAt: at * 1000 + 999, count: 10 })
