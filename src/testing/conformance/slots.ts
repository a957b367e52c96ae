/** Runs by the occurrence they answer for: live and finished in one order, those of a span and of one schedule only. */
import { expect } from 'vitest'
import type { Run } from '../../run/run.ts'
import type { Group } from './harness.ts'
import { claimed, enqueued, FAILED, MINUTE, newId, plannedAhead, SUCCEEDED, settled } from './samples.ts'

const slotOf = ({ id, scheduledAt, dueAt, state, trigger, readiness, queue, schedule, attempt, ...run }: Run) => ({
  ...{ id, scheduledAt, dueAt, state, trigger, readiness, queue, revision: schedule!.revision, attempt },
  ...{ workerId: run.workerId, startedAt: run.startedAt, finishedAt: run.finishedAt },
})

export const slotsGroup: Group = (promise) => {
  promise(
    'tells the runs of a span by their nominal instant, wherever they stand',
    { kills: 'slots forget the finished runs' },
    async ({ store, advance }) => {
      const { schedule, ids, firstAt } = await plannedAhead(store, 5)
      await plannedAhead(store, 5, { key: 'other' })
      const ref = { id: schedule.id, key: 'sync', revision: 1 }
      await enqueued(store, { schedule: ref, trigger: 'manual', queue: 'later' })
      await advance(3 * MINUTE)
      const runs = (await claimed(store)).filter((run) => run.schedule?.id === schedule.id)
      await settled(store, runs[0]!, SUCCEEDED)
      await settled(store, runs[1]!, FAILED)
      const slots = await store.history.slots(schedule.id, { afterAt: firstAt, untilAt: firstAt + 4 * MINUTE }, 10)
      const known = await Promise.all(ids.slice(1).map((id) => store.history.run(id)))
      expect(slots).toEqual(known.map((run) => slotOf(run!)))
      expect(slots.map(({ state }) => state)).toEqual(['failed', 'running', 'pending', 'pending'])
      const all = { afterAt: firstAt - 1, untilAt: firstAt + 3 * MINUTE }
      expect((await store.history.slots(schedule.id, all, 10)).map(({ id }) => id)).toEqual(ids.slice(0, 4))
      expect(await store.history.slots(newId(), all, 10)).toEqual([])
    },
  )

  promise(
    'tells the first of a span when there are more than it is asked for',
    { kills: 'slots are cut before they are in order' },
    async ({ store, advance }) => {
      const { schedule, ids, firstAt } = await plannedAhead(store, 4)
      await advance(2 * MINUTE)
      await settled(store, (await claimed(store))[0]!, SUCCEEDED)
      const span = { afterAt: 0, untilAt: firstAt + 9 * MINUTE }
      const slots = await store.history.slots(schedule.id, span, 3)
      expect(slots.map(({ id }) => id)).toEqual(ids.slice(0, 3))
    },
  )

  promise(
    'tells of a backfill as of any other run for its occurrence',
    { kills: 'slots forget the backfills' },
    async ({ store }) => {
      const { schedule, ids, firstAt } = await plannedAhead(store, 1)
      const ref = { id: schedule.id, key: 'sync', revision: 1 }
      const slot = { scheduledAt: firstAt, slotStartAt: null }
      const again = await enqueued(store, { schedule: ref, trigger: 'backfill', slot })
      const slots = await store.history.slots(schedule.id, { afterAt: firstAt - 1, untilAt: firstAt }, 10)
      expect(slots.map(({ id, trigger }) => [id, trigger]).toSorted()).toEqual(
        [
          [ids[0], 'schedule'],
          [again, 'backfill'],
        ].toSorted(),
      )
    },
  )
}
