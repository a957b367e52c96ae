/** Deleting a finished run: it goes with all that was kept of it, except what answers for its occurrence. */
import { expect } from 'vitest'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import {
  claimed,
  DAY,
  enqueued,
  FAILED,
  MINUTE,
  newId,
  newRun,
  planFor,
  plannedAhead,
  putAgain,
  running,
  SUCCEEDED,
  settled,
  statesOf,
} from './samples.ts'

const slotsOf = (store: Store, scheduleId: string) =>
  store.history.slots(scheduleId, { afterAt: 0, untilAt: 8e15 }, 100)

export const runsRemovedGroup: Group = (promise) => {
  promise(
    'deletes a finished run with its journal and its log, and no other',
    { kills: 'a deleted run leaves its log or its journal' },
    async ({ store }) => {
      const [gone, stays] = [await running(store), await running(store)]
      for (const { id, ...run } of [gone, stays]) {
        await settled(store, { ...run, id }, FAILED)
        expect(await settled(store, { ...run, id }, SUCCEEDED)).toBe('refused')
        await store.logs.append([{ runId: id, attempt: 1, at: 1, level: 'info', message: 'half way', data: null }])
      }
      expect(await store.runs.remove(gone.id, 'ana')).toBe('removed')
      expect(await statesOf(store, [gone.id, stays.id])).toEqual([null, 'failed'])
      expect((await store.history.runs({}, { limit: 10 })).map(({ id }) => id)).toEqual([stays.id])
      const left = async (runId: string) => [
        (await store.history.journal({ runId })).length,
        (await store.logs.read(runId, { limit: 10 })).length,
      ]
      expect([await left(gone.id), await left(stays.id)]).toEqual([
        [0, 0],
        [1, 1],
      ])
      expect(await store.runs.retry([gone.id], 'ana')).toEqual([])
      expect(await store.runs.remove(gone.id, 'ana')).toBe('not_found')
    },
  )

  promise('deletes nothing that is pending or running', { kills: 'a live run is deleted' }, async ({ store }) => {
    const [waiting, live] = [await enqueued(store), await running(store)]
    for (const id of [waiting, live.id]) expect(await store.runs.remove(id, 'ana')).toBe('live')
    expect(await statesOf(store, [waiting, live.id])).toEqual(['pending', 'running'])
    expect(await store.runs.remove(newId(), 'ana')).toBe('not_found')
  })

  promise(
    'goes on answering for the occurrence of a deleted run, with who deleted it and when',
    { kills: 'a deleted run leaves a hole in the ledger' },
    async ({ store, advance }) => {
      const { schedule, ids } = await plannedAhead(store, 2)
      await advance(2 * MINUTE)
      for (const run of await claimed(store)) await settled(store, run, SUCCEEDED)
      const before = await slotsOf(store, schedule.id)
      const at = await store.now()
      expect(await store.runs.remove(ids[0]!, 'ana')).toBe('removed')
      const [first, second, ...more] = await slotsOf(store, schedule.id)
      expect(more).toEqual([])
      expect(second).toEqual(before[1])
      expect(first).toEqual({ ...before[0], deleted: { by: 'ana', at: expect.any(Number) } })
      expect(first!.deleted!.at).toBeGreaterThanOrEqual(at)
      await store.runs.remove(ids[1]!, 'bo')
      expect(await store.history.lastFired([schedule.id], await store.now())).toEqual(
        new Map([[schedule.id, before[1]!.scheduledAt]]),
      )
    },
  )

  promise(
    'plans no occurrence of a deleted run again, also where an edit takes back what came before it',
    { kills: 'a deleted occurrence is planned again' },
    async ({ store }) => {
      const { schedule, ids } = await plannedAhead(store, 3)
      await store.runs.cancel(ids[1]!, 'ana')
      expect(await store.runs.remove(ids[1]!, 'ana')).toBe('removed')
      await store.schedules.put([putAgain(schedule, { payload: 'new' })])
      const edited = (await store.schedules.get('default', 'sync'))!
      expect(await store.planning.record([planFor(edited, 3)])).toEqual(['recorded'])
      expect(await statesOf(store, ids)).toEqual(['pending', null, 'pending'])
    },
  )

  promise(
    'makes an occurrence good no second time because the run was deleted that did',
    { kills: 'a backfill repeats what was deleted' },
    async ({ store }) => {
      const { schedule, firstAt } = await plannedAhead(store, 1)
      const { id, key, revision } = schedule
      const slot = { scheduledAt: firstAt - MINUTE, slotStartAt: firstAt - 2 * MINUTE }
      const queue = 'backfills'
      const made = newRun({ trigger: 'backfill', schedule: { id, key, revision }, slot, queue })
      await store.runs.enqueue([made])
      const [run] = await claimed(store, { wanted: [{ queue, limit: 1 }] })
      await settled(store, run!, SUCCEEDED)
      await store.runs.remove(made.id, 'ana')
      expect(await store.runs.enqueue([made])).toEqual([{ id: made.id, created: false }])
      expect(await claimed(store, { wanted: [{ queue, limit: 1 }] })).toEqual([])
    },
  )

  promise(
    'forgets what answers for a deleted run after the retention of the journal, and not before',
    { kills: 'records of deleted runs are never forgotten' },
    async ({ store, advance }) => {
      const { schedule, ids } = await plannedAhead(store, 1)
      await advance(MINUTE)
      for (const run of await claimed(store)) await settled(store, run, SUCCEEDED)
      await store.runs.remove(ids[0]!, 'ana')
      const others = { idempotencyMs: DAY, workersMs: DAY, orphansMs: DAY, endedMs: null }
      const retention = { historyMs: 0, journalMs: 3 * DAY, ...others }
      await advance(2 * DAY)
      while ((await store.upkeep.tidy(retention)).more);
      expect(await slotsOf(store, schedule.id)).toHaveLength(1)
      await advance(2 * DAY)
      while ((await store.upkeep.tidy(retention)).more);
      expect(await slotsOf(store, schedule.id)).toEqual([])
    },
  )
}
