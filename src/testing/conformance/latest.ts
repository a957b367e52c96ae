/** The newest runs of many schedules in one question: of each its own, live and finished in one order, and no more than asked for. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'
import { claimed, enqueued, FAILED, MINUTE, newId, plannedAhead, putNew, SUCCEEDED, settled } from './samples.ts'

export const latestGroup: Group = (promise) => {
  promise(
    'tells the newest runs of each schedule, newest first, wherever they stand',
    { kills: 'the newest runs are the oldest' },
    async ({ store, advance }) => {
      const one = await plannedAhead(store, 4)
      const other = await plannedAhead(store, 1, { key: 'other' })
      const idle = await putNew(store, { key: 'idle' })
      await advance(2 * MINUTE)
      for (const run of await claimed(store)) await settled(store, run, run.id === one.ids[0] ? FAILED : SUCCEEDED)
      const found = await store.history.latest([one.schedule.id, other.schedule.id, idle.id, newId(), 'no id'], 3)
      const [first, second] = [found.get(one.schedule.id)!, found.get(other.schedule.id)!]
      expect(first.map(({ id }) => id)).toEqual(one.ids.slice(1).reverse())
      expect(first.map(({ state }) => state)).toEqual(['pending', 'pending', 'succeeded'])
      expect(second.map(({ id }) => id)).toEqual(other.ids)
      expect([...found.keys()].sort()).toEqual([one.schedule.id, other.schedule.id].sort())
    },
  )

  promise(
    'tells of them what the ledger tells, and of backfills too',
    { kills: 'the newest runs are told otherwise' },
    async ({ store, advance }) => {
      const { schedule, firstAt } = await plannedAhead(store, 3)
      const ref = { id: schedule.id, key: 'sync', revision: 1 }
      const slot = { scheduledAt: firstAt + 10 * MINUTE, slotStartAt: null }
      await enqueued(store, { schedule: ref, trigger: 'backfill', slot, queue: 'later' })
      await advance(MINUTE)
      await settled(store, (await claimed(store))[0]!, SUCCEEDED)
      const slots = await store.history.slots(schedule.id, { afterAt: 0, untilAt: firstAt + 20 * MINUTE }, 10)
      expect(slots).toHaveLength(4)
      expect((await store.history.latest([schedule.id], 10)).get(schedule.id)).toEqual(slots.toReversed())
    },
  )

  promise(
    'tells when each schedule fired last, by the newest occurrence that has come and has a run',
    { kills: 'what is planned ahead counts as fired' },
    async ({ store, advance }) => {
      const one = await plannedAhead(store, 4)
      const other = await plannedAhead(store, 2, { key: 'other' })
      const idle = await putNew(store, { key: 'idle' })
      const ids = [one.schedule.id, other.schedule.id, idle.id, newId(), 'no id']
      expect(await store.history.lastFired(ids, one.firstAt - 1)).toEqual(new Map())
      await advance(MINUTE)
      for (const run of await claimed(store)) await settled(store, run, SUCCEEDED)
      const fired = new Map([
        [one.schedule.id, one.firstAt],
        [other.schedule.id, other.firstAt],
      ])
      expect(await store.history.lastFired(ids, one.firstAt + MINUTE - 1)).toEqual(fired)
      // A live run counts as much as one that has ended; so does a backfill.
      fired.set(one.schedule.id, one.firstAt + 2 * MINUTE).set(other.schedule.id, other.firstAt + MINUTE)
      const ref = { id: idle.id, key: 'idle', revision: 1 }
      const slot = { scheduledAt: one.firstAt, slotStartAt: null }
      await enqueued(store, { schedule: ref, trigger: 'backfill', slot, queue: 'later' })
      fired.set(idle.id, one.firstAt)
      expect(await store.history.lastFired(ids, one.firstAt + 2 * MINUTE)).toEqual(fired)
    },
  )
}
