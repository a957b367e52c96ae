/** The cursor as planners see it: who is due, and that a schedule nobody can plan is set aside. What a plan writes is `planning-record.ts`. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'
import { DAY, definitionOf, HOUR, MINUTE, newId, planFor, putAgain, putNew } from './samples.ts'

const PAGE = { lookaheadMs: 10_000, limit: 10 }

export const planningGroup: Group = (promise) => {
  promise(
    'finds those whose cursor is near, the nearest first',
    { kills: 'due schedules come in no order' },
    async ({ store }) => {
      const now = await store.now()
      for (const [key, wait] of [
        ['b', 9000],
        ['d', HOUR],
        ['a', -HOUR],
        ['c', 10_000],
        ['e', DAY],
      ] as const)
        await putNew(store, { key }, { nextAt: now + wait })
      // The clock may tick between two questions, so what is due is asked for at the instant of the answer.
      const page = await store.planning.due({ ...PAGE, lookaheadMs: 10_000 })
      expect(page.schedules.map(({ key }) => key)).toEqual(['a', 'b', 'c'])
      expect(page.nextAt).toBe(now + HOUR)
      expect(page.now).toBeGreaterThanOrEqual(now)
    },
  )

  promise('tells all that planning needs to know', { kills: 'a due schedule is read in part' }, async ({ store }) => {
    const catchUp = { catchUp: 'all', windowMs: HOUR, limit: 7 } as const
    const timing = { kind: 'cron', cron: '*/5 * * * *', timezone: 'Asia/Tokyo' } as const
    const first = await putNew(store, { workspace: 't_42', timing, catchUp }, { nextAt: 5000, watermarkAt: 4000 })
    await store.schedules.put([putAgain(first, { job: 'other' })])
    const { schedules } = await store.planning.due(PAGE)
    const { firing } = definitionOf()
    const known = { id: first.id, workspace: 't_42', key: 'sync', revision: 2, timing, catchUp, firing }
    const state = { nextAt: 5000, watermarkAt: 4000, runCount: 0, pausedUntil: null, pauseDetail: '' }
    expect(schedules).toEqual([{ ...known, ...state }])
  })

  promise('answers no more than it was asked for', { kills: 'the limit is ignored' }, async ({ store }) => {
    const now = await store.now()
    for (const key of ['a', 'b', 'c']) await putNew(store, { key }, { nextAt: now })
    expect((await store.planning.due({ ...PAGE, limit: 2 })).schedules).toHaveLength(2)
  })

  promise('has no next cursor when none is left', { kills: 'a parked cursor counts as near' }, async ({ store }) => {
    await putNew(store, {}, { nextAt: null })
    expect(await store.planning.due(PAGE)).toMatchObject({ schedules: [], nextAt: null })
  })

  promise(
    'sets aside a schedule that cannot be planned, so that it blocks nobody',
    { kills: 'a quarantined schedule stays due' },
    async ({ store }) => {
      const now = await store.now()
      const bad = await putNew(store, { key: 'bad' }, { nextAt: now - MINUTE })
      const good = await putNew(store, { key: 'good' }, { nextAt: now })
      const page = { ...PAGE, limit: 1 }
      expect((await store.planning.due(page)).schedules).toMatchObject([{ id: bad.id }])
      await store.planning.quarantine({ ...bad, nextAt: bad.nextAt! }, { code: 'CRON_RANGE', message: 'hour 25' })
      expect((await store.planning.due(page)).schedules).toMatchObject([{ id: good.id }])
      const aside = (await store.schedules.get('default', 'bad'))!
      expect(aside).toMatchObject({ nextAt: null, quarantine: { code: 'CRON_RANGE', message: 'hour 25' } })
      expect(aside.quarantine!.at).toBeGreaterThanOrEqual(now)
      const journal = await store.history.journal({ scheduleId: bad.id })
      expect(journal).toMatchObject([{ kind: 'quarantined', scheduleId: bad.id, runId: null }])
      expect(await store.planning.record([planFor(bad, 1)])).toEqual(['stale'])
    },
  )

  promise(
    'sets nothing aside that was edited or planned meanwhile',
    { kills: 'a quarantine does not look at what it judged' },
    async ({ store }) => {
      const schedule = await putNew(store)
      const seen = { ...schedule, nextAt: schedule.nextAt! }
      const why = { code: 'CRON_RANGE', message: 'hour 25' }
      await store.planning.quarantine({ ...seen, nextAt: seen.nextAt - 1 }, why)
      await store.planning.quarantine({ ...seen, revision: seen.revision + 1 }, why)
      await store.planning.quarantine({ ...seen, id: newId() }, why)
      expect(await store.schedules.get('default', 'sync')).toEqual(schedule)
      expect(await store.history.journal({ scheduleId: schedule.id })).toEqual([])
    },
  )

  promise(
    'lifts a quarantine when the schedule is changed, and only then',
    { kills: 'a quarantine outlives its cure' },
    async ({ store }) => {
      const schedule = await putNew(store)
      const seen = { ...schedule, nextAt: schedule.nextAt! }
      await store.planning.quarantine(seen, { code: 'CRON_RANGE', message: 'hour 25' })
      const same = putAgain(schedule, {})
      expect(await store.schedules.put([same])).toMatchObject([{ changed: false, nextAt: null }])
      const cured = putAgain(schedule, { description: 'cured' })
      expect(await store.schedules.put([cured])).toMatchObject([{ changed: true, nextAt: seen.nextAt }])
      expect(await store.schedules.get('default', 'sync')).toMatchObject({ quarantine: null, nextAt: seen.nextAt })
      await store.planning.quarantine({ ...seen, revision: 2 }, { code: 'CRON_RANGE', message: 'hour 25' })
      const timing = { kind: 'once', at: seen.nextAt + HOUR } as const
      const moved = putAgain({ ...schedule, revision: 2 }, { timing }, timing.at)
      expect(await store.schedules.put([moved])).toMatchObject([{ changed: true, nextAt: timing.at }])
      expect(await store.schedules.get('default', 'sync')).toMatchObject({ quarantine: null, nextAt: timing.at })
    },
  )
}
