/** A pause with an end: the cursor stands there, and the plan that passes it lifts the pause in the same transaction. */
import { expect } from 'vitest'
import type { Schedule } from '../../schedule/schedule.ts'
import type { Group, Subject } from './harness.ts'
import { DAY, HOUR, MINUTE, midway, nonRun, planFor, putAgain, putNew, RETRACTED, statesOf } from './samples.ts'

const SOON = { lookaheadMs: MINUTE, limit: 10 }
const current = async ({ store }: Subject): Promise<Schedule> => (await store.schedules.get('default', 'sync'))!

/** Pauses the schedule for an hour, and answers it. */
async function pausedForAnHour(subject: Subject): Promise<Schedule> {
  const until = (await subject.store.now()) + HOUR
  await subject.store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until })
  return current(subject)
}

export const schedulePauseEndsGroup: Group = (promise) => {
  promise(
    'makes a schedule due again at the end of its pause, and tells planning that it is one',
    { kills: 'a pause with an end never ends' },
    async (subject) => {
      const { store } = subject
      const { ids } = await midway(subject)
      const paused = await pausedForAnHour(subject)
      const until = paused.pause!.until!
      expect(paused.nextAt).toBe(until)
      expect(await statesOf(store, ids)).toEqual(RETRACTED)
      expect(await store.planning.due(SOON)).toMatchObject({ schedules: [], nextAt: until })
      await subject.advance(HOUR)
      const { schedules } = await store.planning.due(SOON)
      expect(schedules).toMatchObject([{ id: paused.id, nextAt: until, pausedUntil: until }])
    },
  )

  promise(
    'lifts the pause with the plan that passes its end, and not with one that is stale',
    { kills: 'a plan that resumes leaves the pause standing' },
    async (subject) => {
      const { store } = subject
      await putNew(store)
      const paused = await pausedForAnHour(subject)
      const until = paused.pause!.until!
      const passed = { fromAt: until - 59 * MINUTE, toAt: until, count: 60 }
      const nonRuns = [nonRun({ state: 'skipped', reason: 'paused', detail: 'by ana: outage', ...passed })]
      const plan = planFor(paused, 0, { nextAt: until + MINUTE, watermarkAt: until, nonRuns, resumes: true })
      expect(await store.planning.record([{ ...plan, expectedNextAt: until - 1 }])).toEqual(['stale'])
      expect(await current(subject)).toEqual(paused)
      expect(await store.planning.record([plan])).toEqual(['recorded'])
      expect(await current(subject)).toMatchObject({ pause: null, nextAt: until + MINUTE, watermarkAt: until })
      expect(await store.history.nonRuns(paused.id)).toMatchObject(nonRuns.map(({ afterAt, ...one }) => one))
    },
  )

  promise(
    'lifts no pause but that of the schedule which the plan is for',
    { kills: 'a plan lifts the pauses of its neighbours' },
    async (subject) => {
      const { store } = subject
      await putNew(store)
      const paused = await pausedForAnHour(subject)
      const other = await putNew(store, { key: 'other' })
      expect(await store.planning.record([planFor(other, 1)])).toEqual(['recorded'])
      expect(await current(subject)).toEqual(paused)
    },
  )

  promise('keeps the end of a pause through every edit', { kills: 'an edit lifts the pause' }, async (subject) => {
    await putNew(subject.store)
    const paused = await pausedForAnHour(subject)
    const timing = { kind: 'once', at: paused.nextAt! + DAY } as const
    for (const change of [{ job: 'other' }, { job: 'other', timing }]) {
      const answer = await subject.store.schedules.put([putAgain(await current(subject), change)])
      expect(answer).toMatchObject([{ changed: true, nextAt: paused.nextAt }])
      expect(await current(subject)).toMatchObject({ nextAt: paused.nextAt, pause: { reason: 'outage' } })
    }
  })

  promise(
    'goes by the newest pause, with another end or with none',
    { kills: 'a second pause is ignored' },
    async (subject) => {
      const { store } = subject
      await putNew(store)
      const paused = await pausedForAnHour(subject)
      await store.schedules.pause('default', 'sync', { reason: 'for good', by: 'bo', until: null })
      expect((await current(subject)).nextAt).toBeNull()
      const until = paused.nextAt! + DAY
      await store.schedules.pause('default', 'sync', { reason: 'a day', by: 'bo', until })
      expect(await current(subject)).toMatchObject({ nextAt: until, pause: { until } })
    },
  )

  promise(
    'keeps a quarantined schedule parked, whatever end its pause has',
    { kills: 'a pause lifts a quarantine' },
    async (subject) => {
      const { store } = subject
      const schedule = await putNew(store)
      const why = { code: 'CRON_RANGE', message: 'hour 25' }
      await store.planning.quarantine({ ...schedule, nextAt: schedule.nextAt! }, why)
      const paused = await pausedForAnHour(subject)
      expect(paused).toMatchObject({ nextAt: null, quarantine: why, pause: { reason: 'outage' } })
    },
  )
}
