/** What a change takes back of a run that jitter put off: its nominal instant has passed, and it must not be lost with it. */
import { expect } from 'vitest'
import type { Schedule } from '../../schedule/schedule.ts'
import type { Group, Subject } from './harness.ts'
import { HOUR, MINUTE, midway, type Planned, planFor, putAgain, putNew, statesOf } from './samples.ts'

const current = async ({ store }: Subject): Promise<Schedule> => (await store.schedules.get('default', 'sync'))!

/** Its first occurrence was a minute ago and is due in four, the second comes in 59 minutes; both are planned. */
async function putOff(subject: Subject): Promise<Planned> {
  const { store, advance } = subject
  const timing = { kind: 'interval', everyMs: HOUR, anchorAt: 0 } as const
  const schedule = await putNew(store, { timing })
  const firstAt = schedule.nextAt!
  const [first, second] = planFor(schedule, 2).runs
  const runs = [
    { ...first!, dueAt: firstAt + 5 * MINUTE },
    { ...second!, scheduledAt: firstAt + HOUR, dueAt: firstAt + HOUR },
  ]
  const cursor = { nextAt: firstAt + 2 * HOUR, watermarkAt: firstAt + HOUR }
  await store.planning.record([planFor(schedule, 2, { runs, ...cursor })])
  await advance(2 * MINUTE)
  return { schedule: await current(subject), ids: runs.map(({ id }) => id), firstAt }
}

export const retractionsGroup: Group = (promise) => {
  promise(
    'plans again after an edit what has not come due, although its nominal instant has passed',
    { kills: 'retraction goes by the nominal instant' },
    async (subject) => {
      const { schedule, ids, firstAt } = await putOff(subject)
      const [answer] = await subject.store.schedules.put([putAgain(schedule, { payload: 'new' })])
      expect(answer!.nextAt).toBe(firstAt)
      expect(await statesOf(subject.store, ids)).toEqual([null, null])
      const edited = await current(subject)
      expect(edited).toMatchObject({ nextAt: firstAt, watermarkAt: firstAt - 1, runCount: 0 })
      expect(await subject.store.planning.record([planFor(edited, 1)])).toEqual(['recorded'])
      expect(await subject.store.history.run(ids[0]!)).toMatchObject({ payload: 'new', state: 'pending' })
      expect(await subject.store.history.nonRuns(schedule.id)).toEqual([])
    },
  )

  promise(
    'records what a new timing took back though its caller had accounted for it',
    { kills: 'a new timing loses what it took back' },
    async (subject) => {
      const { schedule, ids, firstAt } = await putOff(subject)
      const now = await subject.store.now()
      const timing = { kind: 'once', at: now + HOUR } as const
      const put = { ...putAgain(schedule, { timing }, timing.at), watermarkAt: now }
      expect(await subject.store.schedules.put([put])).toMatchObject([{ changed: true, nextAt: timing.at }])
      expect(await statesOf(subject.store, ids)).toEqual([null, null])
      expect(await current(subject)).toMatchObject({ nextAt: timing.at, watermarkAt: now, runCount: 0 })
      const told = await subject.store.history.nonRuns(schedule.id)
      expect(told).toMatchObject([{ state: 'skipped', reason: 'edited', fromAt: firstAt, toAt: firstAt, count: 1 }])
    },
  )

  promise(
    'pauses before what has not come due, although its nominal instant has passed',
    { kills: 'a pause loses what it took back' },
    async (subject) => {
      const { ids, firstAt } = await putOff(subject)
      await subject.store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
      expect(await statesOf(subject.store, ids)).toEqual([null, null])
      expect(await current(subject)).toMatchObject({ nextAt: null, watermarkAt: firstAt - 1, runCount: 0 })
    },
  )

  promise(
    'removes with a schedule what has not come due, although its nominal instant has passed',
    { kills: 'retraction goes by the nominal instant' },
    async (subject) => {
      const { ids } = await putOff(subject)
      await subject.store.schedules.remove('default', 'sync', 'ana')
      expect(await statesOf(subject.store, ids)).toEqual([null, null])
    },
  )

  promise(
    'counts the runs that were made, without those taken back',
    { kills: 'runs taken back count as made' },
    async (subject) => {
      const { store } = subject
      const { schedule } = await midway(subject)
      expect(schedule.runCount).toBe(4)
      await store.schedules.put([putAgain(schedule, { payload: 'new' })])
      const edited = await current(subject)
      expect(edited.runCount).toBe(2)
      await store.planning.record([planFor(edited, 3)])
      expect((await current(subject)).runCount).toBe(5)
      expect((await store.planning.due({ lookaheadMs: HOUR, limit: 10 })).schedules).toMatchObject([{ runCount: 5 }])
      await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
      expect((await current(subject)).runCount).toBe(2)
    },
  )
}
