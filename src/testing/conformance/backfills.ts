/** Backfills as rows: each step counts once, from where it was decided, with the runs it makes; the next step is decided elsewhere. */
import { expect } from 'vitest'
import { occurrenceId } from '../../plan/occurrence.ts'
import type { Schedule } from '../../schedule/schedule.ts'
import type { BackfillProgress, NewBackfill } from '../../store/contract/backfills.ts'
import type { NewRun } from '../../store/contract/runs.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { claimed, MINUTE, newId, newRun, plannedAhead, putNew, SUCCEEDED, settled, statesOf } from './samples.ts'

export const newBackfill = (schedule: Schedule, change: Partial<NewBackfill> = {}): NewBackfill => ({
  id: newId(),
  scheduleId: schedule.id,
  workspace: schedule.workspace,
  key: schedule.key,
  by: 'ana',
  fromAt: 60 * MINUTE,
  toAt: 70 * MINUTE,
  concurrency: 3,
  force: false,
  payload: null,
  total: 11,
  ...change,
})

const NONE = { kept: 0, made: 0, succeeded: 0, failed: 0, cancelled: 0, open: [] }

const step = (change: Partial<BackfillProgress>): BackfillProgress => ({
  ...{ ...NONE, doneUntilAt: 0, state: 'running' },
  ...change,
})

/** The run that makes one minute good. */
function goodFor(schedule: Schedule, at: number): NewRun {
  const { id, key, revision } = schedule
  const slot = { scheduledAt: at, slotStartAt: at - MINUTE }
  return newRun({ trigger: 'backfill', schedule: { id, key, revision }, slot })
}

async function begun(store: Store, change: Partial<NewBackfill> = {}): Promise<{ schedule: Schedule; id: string }> {
  const schedule = (await store.schedules.get('default', 'sync')) ?? (await putNew(store))
  const backfill = newBackfill(schedule, change)
  await store.backfills.create(backfill)
  return { schedule, id: backfill.id }
}

export const backfillsGroup: Group = (promise) => {
  promise('keeps a backfill as it was asked for', { kills: 'a column is not written' }, async ({ store }) => {
    const now = await store.now()
    const asked = newBackfill(await putNew(store), { force: true, payload: { n: [1] }, total: 5e9 })
    await store.backfills.create(asked)
    const { createdAt, doneUntilAt, version, ...kept } = (await store.backfills.get(asked.id))!
    expect(kept).toEqual({ ...asked, ...NONE, state: 'running', finishedAt: null })
    expect(createdAt).toBeGreaterThanOrEqual(now)
    expect(doneUntilAt).toBeLessThan(asked.fromAt)
    expect(Number.isSafeInteger(version)).toBe(true)
    expect(await store.backfills.get(newId())).toBeNull()
    expect(await store.backfills.get('nonsense')).toBeNull()
  })

  promise(
    'writes a step with its runs, which answer for the occurrences they run afterwards',
    { kills: 'a step forgets its runs' },
    async ({ store }) => {
      const { schedule, id } = await begun(store)
      const run = goodFor(schedule, 60 * MINUTE)
      const before = (await store.backfills.get(id))!
      const progress = step({ doneUntilAt: 61 * MINUTE, kept: 1, made: 1, open: [run.id] })
      expect(await store.backfills.advance(id, before.version, { progress, runs: [run] })).toBe(true)
      const after = (await store.backfills.get(id))!
      expect(after).toEqual({ ...before, ...progress, version: after.version })
      expect(after.version).toBeGreaterThan(before.version)
      const slot = { scheduledAt: 60 * MINUTE, slotStartAt: 59 * MINUTE }
      expect(await store.history.run(run.id)).toMatchObject({ ...slot, trigger: 'backfill', schedule: { key: 'sync' } })
      expect(await claimed(store)).toMatchObject([{ id: run.id }])
    },
  )

  promise(
    'takes a step once, and only from where it was decided',
    { kills: 'a step does not look at the version' },
    async ({ store }) => {
      const { schedule, id } = await begun(store)
      const { version } = (await store.backfills.get(id))!
      const [first, late] = [goodFor(schedule, 60 * MINUTE), goodFor(schedule, 61 * MINUTE)]
      const advance = (run: NewRun, from = version): Promise<boolean> =>
        store.backfills.advance(id, from, { progress: step({ open: [run.id] }), runs: [run] })
      expect(await advance(first)).toBe(true)
      const after = await store.backfills.get(id)
      expect(await advance(late)).toBe(false)
      expect(await advance(late, after!.version + 1)).toBe(false)
      expect(await store.backfills.advance(newId(), version, { progress: step({}), runs: [late] })).toBe(false)
      expect(await store.backfills.get(id)).toEqual(after)
      expect(await statesOf(store, [first.id, late.id])).toEqual(['pending', null])
    },
  )

  promise(
    'takes one of two steps that come at once',
    { kills: 'a step does not look at the version', needs: 'second' },
    async ({ store, second }) => {
      const other = await second()
      const { schedule, id } = await begun(store)
      const { version } = (await store.backfills.get(id))!
      const answers = await Promise.all(
        [store, other].map((one) =>
          one.backfills.advance(id, version, { progress: step({}), runs: [goodFor(schedule, 60 * MINUTE)] }),
        ),
      )
      expect(answers.toSorted()).toEqual([false, true])
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(1)
    },
  )

  promise(
    'makes a run once, although a step names it again',
    { kills: 'a repeated step makes a run again' },
    async ({ store }) => {
      const { schedule, id } = await begun(store)
      const runs = [goodFor(schedule, 60 * MINUTE), goodFor(schedule, 61 * MINUTE)]
      const advance = async (these: readonly NewRun[]): Promise<boolean> => {
        const { version } = (await store.backfills.get(id))!
        return store.backfills.advance(id, version, { progress: step({}), runs: these })
      }
      expect(await advance(runs.slice(0, 1))).toBe(true)
      const [run] = await claimed(store)
      await settled(store, run!, SUCCEEDED)
      expect(await advance(runs)).toBe(true)
      expect(await advance(runs)).toBe(true)
      const ids = runs.map((one) => one.id)
      expect(await statesOf(store, ids)).toEqual(['succeeded', 'pending'])
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(2)
    },
  )

  promise(
    'makes an occurrence good beside the run that the plan made of it',
    { kills: 'a backfill is taken for the plan' },
    async ({ store }) => {
      const { schedule, ids, firstAt } = await plannedAhead(store, 1)
      const { id } = await begun(store, { force: true })
      const run = goodFor(schedule, firstAt)
      expect(run.id).not.toBe(occurrenceId(schedule.id, firstAt))
      const { version } = (await store.backfills.get(id))!
      expect(await store.backfills.advance(id, version, { progress: step({}), runs: [run] })).toBe(true)
      expect(await statesOf(store, [...ids, run.id])).toEqual(['pending', 'pending'])
      expect((await store.schedules.get('default', 'sync'))!.runCount).toBe(1)
    },
  )

  promise('ends with its last step', { kills: 'a finished backfill goes on' }, async ({ store, advance }) => {
    const { schedule, id } = await begun(store)
    await advance(MINUTE)
    const now = await store.now()
    const { version } = (await store.backfills.get(id))!
    const progress = step({ doneUntilAt: 70 * MINUTE, made: 11, succeeded: 11, state: 'done' })
    expect(await store.backfills.advance(id, version, { progress, runs: [] })).toBe(true)
    const done = (await store.backfills.get(id))!
    expect(done.finishedAt).toBeGreaterThanOrEqual(now)
    const more = { progress: step({}), runs: [goodFor(schedule, 60 * MINUTE)] }
    expect(await store.backfills.advance(id, done.version, more)).toBe(false)
    expect(await store.backfills.cancel(id)).toBe(false)
    expect(await store.backfills.get(id)).toEqual(done)
  })

  promise('makes no more runs once cancelled', { kills: 'a cancelled backfill goes on' }, async ({ store }) => {
    const { schedule, id } = await begun(store)
    const { version } = (await store.backfills.get(id))!
    const now = await store.now()
    expect(await store.backfills.cancel(id)).toBe(true)
    const cancelled = (await store.backfills.get(id))!
    expect(cancelled.state).toBe('cancelled')
    expect(cancelled.finishedAt).toBeGreaterThanOrEqual(now)
    for (const from of [version, cancelled.version]) {
      const more = { progress: step({}), runs: [goodFor(schedule, 60 * MINUTE)] }
      expect(await store.backfills.advance(id, from, more)).toBe(false)
    }
    expect(await store.backfills.cancel(id)).toBe(false)
    expect(await store.backfills.cancel(newId())).toBe(false)
    expect(await store.history.runs({}, { limit: 10 })).toEqual([])
  })

  promise(
    'lists from the newest on, by schedule and state',
    { kills: 'a filter is ignored' },
    async ({ store, advance }) => {
      const other = await putNew(store, { key: 'other' })
      const ids: string[] = []
      for (const scheduleId of [undefined, other.id, undefined]) {
        ids.push((await begun(store, scheduleId ? { scheduleId } : {})).id)
        await advance(MINUTE)
      }
      const listed = async (filter: Omit<Parameters<Store['backfills']['list']>[0], 'limit'>, limit = 10) =>
        (await store.backfills.list({ ...filter, limit })).map(({ id }) => id)
      expect(await listed({})).toEqual(ids.toReversed())
      expect(await listed({}, 1)).toEqual([ids[2]])
      expect(await listed({ scheduleId: other.id })).toEqual([ids[1]])
      await store.backfills.cancel(ids[2]!)
      expect(await listed({ state: 'running' })).toEqual([ids[1], ids[0]])
      expect(await listed({ state: 'cancelled', scheduleId: other.id })).toEqual([])
    },
  )

  promise(
    'lists without payloads where they are not asked for',
    { kills: 'a filter is ignored' },
    async ({ store }) => {
      const { id } = await begun(store, { payload: { n: 1 } })
      const one = async (filter: object) => (await store.backfills.list({ ...filter, limit: 1 }))[0]
      const whole = await store.backfills.get(id)
      expect(await one({})).toEqual(whole)
      for (const filter of [{}, { ids: { from: id } }])
        expect(await one({ ...filter, omitPayload: true })).toEqual({ ...whole, payload: null })
    },
  )

  promise(
    'lists those of a range of ids and of a workspace, from the greatest id on',
    { kills: 'a range of ids is open' },
    async ({ store }) => {
      const schedule = await putNew(store)
      const ids = ['a0', 'a1', 'b0', 'b1'].map((first) => `${first}90a0f0-0000-7000-8000-000000000000`)
      const [a0, a1, b0, b1] = ids as [string, string, string, string]
      // Made in another order than that of their ids.
      for (const id of [b0, a1, b1, a0]) {
        const workspace = id === b0 ? 'other' : schedule.workspace
        await store.backfills.create(newBackfill(schedule, { id, workspace }))
      }
      const listed = async (filter: Omit<Parameters<Store['backfills']['list']>[0], 'limit'>, limit = 10) =>
        (await store.backfills.list({ ...filter, limit })).map(({ id }) => id)
      expect(await listed({ ids: { from: a1, before: b1 } })).toEqual([b0, a1])
      expect(await listed({ ids: { from: a1 } })).toEqual([b1, b0, a1])
      expect(await listed({ ids: { from: a1 } }, 2)).toEqual([b1, b0])
      expect(await listed({ ids: { from: a0 }, workspace: 'other' })).toEqual([b0])
      expect(await listed({ workspace: 'other' })).toEqual([b0])
    },
  )
}
