/** What an edit does to what was planned ahead: all in one transaction, and never to what is due. */
import { expect } from 'vitest'
import type { Schedule } from '../../schedule/schedule.ts'
import type { Group, Subject } from './harness.ts'
import {
  againIn,
  claimed,
  DAY,
  enqueued,
  HOUR,
  MINUTE,
  midway,
  planFor,
  plannedAhead,
  putAgain,
  putNew,
  RETRACTED,
  settled,
  statesOf,
} from './samples.ts'

const current = async ({ store }: Subject): Promise<Schedule | null> => store.schedules.get('default', 'sync')

export const scheduleEditsGroup: Group = (promise) => {
  promise(
    'retracts at an edit the runs still to come, and leaves those that are due or running',
    { kills: 'an edit leaves old plans standing' },
    async (subject) => {
      const { schedule, ids } = await midway(subject)
      const before = await subject.store.history.run(ids[1]!)
      await subject.store.schedules.put([putAgain(schedule, { payload: 'new' })])
      expect(await statesOf(subject.store, ids)).toEqual(RETRACTED)
      expect(await subject.store.history.run(ids[1]!)).toEqual(before)
    },
  )

  promise(
    'takes cursor and watermark back to what an edit retracted, so that it is planned again under the same ids',
    { kills: 'an edit does not move the cursor back' },
    async (subject) => {
      const { store } = subject
      const { schedule, ids, firstAt } = await midway(subject)
      const [answer] = await store.schedules.put([putAgain(schedule, { payload: 'new' })])
      expect(answer!.nextAt).toBe(firstAt + 2 * MINUTE)
      const edited = (await current(subject))!
      expect(edited.nextAt).toBe(firstAt + 2 * MINUTE)
      expect(edited.watermarkAt).toBeLessThanOrEqual(await store.now())
      expect(edited.watermarkAt).toBeGreaterThanOrEqual(firstAt + MINUTE)
      expect(await store.planning.record([planFor(edited, 2)])).toEqual(['recorded'])
      const again = await store.history.run(ids[2]!)
      expect(again).toMatchObject({ state: 'pending', payload: 'new', schedule: { revision: 2 } })
    },
  )

  promise(
    'sets the cursor where a new timing begins',
    { kills: 'a new timing keeps the old cursor' },
    async (subject) => {
      const { schedule, ids, firstAt } = await midway(subject)
      const startAt = firstAt + HOUR
      const timing = { kind: 'once', at: startAt } as const
      const [answer] = await subject.store.schedules.put([putAgain(schedule, { timing }, startAt)])
      expect(answer!.nextAt).toBe(startAt)
      expect(await statesOf(subject.store, ids)).toEqual(RETRACTED)
      expect((await current(subject))!.nextAt).toBe(startAt)
    },
  )

  promise(
    'leaves the cursor alone at an edit that retracts nothing',
    { kills: 'every edit moves the cursor' },
    async (subject) => {
      const schedule = await putNew(subject.store)
      const put = { ...putAgain(schedule, { job: 'other' }), nextAt: schedule.nextAt! + DAY }
      expect(await subject.store.schedules.put([put])).toMatchObject([{ nextAt: schedule.nextAt }])
      expect((await current(subject))!.nextAt).toBe(schedule.nextAt)
    },
  )

  promise(
    'does not take a retry, a run started by hand or one of a backfill for a run still to come',
    { kills: 'a retraction takes what nobody planned ahead' },
    async (subject) => {
      const { store } = subject
      const { schedule, ids } = await midway(subject)
      const [retried] = await claimed(store)
      await settled(store, retried!, againIn(HOUR))
      const ref = { id: schedule.id, key: 'sync', revision: 1 }
      const byHand = await enqueued(store, { schedule: ref, trigger: 'manual', due: { delayMs: HOUR } })
      const slot = { scheduledAt: schedule.createdAt - DAY, slotStartAt: null }
      const past = await enqueued(store, { schedule: ref, trigger: 'backfill', slot, due: { delayMs: HOUR } })
      await store.schedules.put([putAgain(schedule, { job: 'other' })])
      const states = await statesOf(store, [...ids, byHand, past])
      expect(states).toEqual(['running', 'pending', null, null, 'pending', 'pending'])
      expect((await current(subject))!.watermarkAt).toBeGreaterThan(slot.scheduledAt)
      await store.schedules.remove('default', 'sync', 'ana')
      expect(await statesOf(store, [ids[1]!, byHand, past])).toEqual(['pending', 'pending', 'pending'])
    },
  )

  promise(
    'retracts nothing of other schedules',
    { kills: 'retraction forgets whose runs they are' },
    async (subject) => {
      const { schedule } = await plannedAhead(subject.store, 2)
      const other = await plannedAhead(subject.store, 2, { key: 'other' })
      await subject.store.schedules.put([putAgain(schedule, { job: 'other' })])
      expect(await statesOf(subject.store, other.ids)).toEqual(['pending', 'pending'])
      await subject.store.schedules.remove('default', 'sync', 'ana')
      expect(await statesOf(subject.store, other.ids)).toEqual(['pending', 'pending'])
      expect(await subject.store.schedules.get('default', 'other')).toEqual(other.schedule)
    },
  )

  promise(
    'makes a plan stale that was made before the edit',
    { kills: 'a plan does not look at the revision' },
    async (subject) => {
      const schedule = await putNew(subject.store)
      const plan = planFor(schedule, 2)
      await subject.store.schedules.put([putAgain(schedule, { payload: 'new' })])
      expect((await current(subject))!.nextAt).toBe(plan.expectedNextAt)
      expect(await subject.store.planning.record([plan])).toEqual(['stale'])
      expect(
        await statesOf(
          subject.store,
          plan.runs.map(({ id }) => id),
        ),
      ).toEqual([null, null])
    },
  )
}
