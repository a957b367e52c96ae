/** Pause, resume and removal: they park or end a schedule and retract its plans, as an edit does, and leave what is due. */
import { expect } from 'vitest'
import type { Schedule } from '../../schedule/schedule.ts'
import type { Group, Subject } from './harness.ts'
import {
  claimed,
  DAY,
  definitionOf,
  HOUR,
  MINUTE,
  midway,
  nonRun,
  planFor,
  plannedAhead,
  putAgain,
  putNew,
  putOf,
  RETRACTED,
  statesOf,
} from './samples.ts'

const current = async ({ store }: Subject): Promise<Schedule | null> => store.schedules.get('default', 'sync')

export const schedulePausesGroup: Group = (promise) => {
  promise(
    'parks a paused schedule and retracts its plans',
    { kills: 'a pause leaves the cursor standing' },
    async (subject) => {
      const { store } = subject
      const { ids } = await midway(subject)
      const now = await store.now()
      expect(await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })).toBe(true)
      const paused = (await current(subject))!
      expect(paused).toMatchObject({ nextAt: null, pause: { reason: 'outage', by: 'ana', until: null } })
      expect(paused.pause!.at).toBeGreaterThanOrEqual(now)
      expect(paused.watermarkAt).toBeLessThanOrEqual(await store.now())
      expect(await statesOf(store, ids)).toEqual(RETRACTED)
      expect((await store.planning.due({ lookaheadMs: DAY, limit: 10 })).schedules).toEqual([])
    },
  )

  promise('keeps the newer words when paused twice', { kills: 'a second pause is ignored' }, async (subject) => {
    const { store } = subject
    await putNew(store)
    await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
    expect(await store.schedules.pause('default', 'sync', { reason: 'trial ended', by: 'bo', until: null })).toBe(true)
    expect((await current(subject))!.pause).toMatchObject({ reason: 'trial ended', by: 'bo', until: null })
    expect(await store.schedules.pause('default', 'gone', { reason: '', by: '', until: null })).toBe(false)
  })

  promise('keeps a pause through every edit', { kills: 'an edit lifts the pause' }, async (subject) => {
    const { store } = subject
    const schedule = await putNew(store)
    await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
    const timing = { kind: 'once', at: schedule.nextAt! + DAY } as const
    for (const change of [{ job: 'other' }, { job: 'other', timing }]) {
      expect(await store.schedules.put([putAgain((await current(subject))!, change)])).toMatchObject([
        { changed: true, nextAt: null },
      ])
      expect(await current(subject)).toMatchObject({ nextAt: null, pause: { reason: 'outage' } })
    }
  })

  promise(
    'resumes where it is told, and records what was passed over',
    { kills: 'a resume forgets what was passed over' },
    async (subject) => {
      const { store } = subject
      const { schedule, firstAt } = await midway(subject)
      await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
      await subject.advance(HOUR)
      const { revision } = (await current(subject))!
      const passed = { fromAt: firstAt + 2 * MINUTE, toAt: firstAt + 61 * MINUTE, count: 60 }
      const nonRuns = [nonRun({ state: 'skipped', reason: 'paused', detail: 'by ana: outage', ...passed })]
      const change = { revision, nextAt: firstAt + 62 * MINUTE, watermarkAt: passed.toAt, nonRuns, by: 'ana' }
      expect(await store.schedules.resume('default', 'sync', change)).toBe(true)
      expect(await current(subject)).toMatchObject({ pause: null, nextAt: change.nextAt, watermarkAt: passed.toAt })
      expect(await store.history.nonRuns(schedule.id)).toMatchObject(nonRuns.map(({ afterAt, ...one }) => one))
      const due = await store.planning.due({ lookaheadMs: HOUR, limit: 10 })
      expect(due.schedules).toMatchObject([{ id: schedule.id, nextAt: change.nextAt }])
    },
  )

  promise(
    'never moves the watermark back at a resume',
    { kills: 'a resume moves the watermark back' },
    async (subject) => {
      const { store } = subject
      await midway(subject)
      await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
      const { revision, watermarkAt } = (await current(subject))!
      const change = { revision, nextAt: watermarkAt + MINUTE, watermarkAt: watermarkAt - HOUR, nonRuns: [], by: 'ana' }
      expect(await store.schedules.resume('default', 'sync', change)).toBe(true)
      expect(await current(subject)).toMatchObject({ watermarkAt, nextAt: change.nextAt })
    },
  )

  promise(
    'keeps a quarantined schedule parked when its pause is lifted',
    { kills: 'a resume lifts a quarantine' },
    async (subject) => {
      const { store } = subject
      const schedule = await putNew(store)
      const seen = { ...schedule, nextAt: schedule.nextAt! }
      await store.planning.quarantine(seen, { code: 'CRON_RANGE', message: 'hour 25' })
      await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
      const { revision, watermarkAt } = (await current(subject))!
      await store.schedules.resume('default', 'sync', {
        revision,
        nextAt: seen.nextAt,
        watermarkAt,
        nonRuns: [],
        by: 'ana',
      })
      expect(await current(subject)).toMatchObject({ pause: null, nextAt: null, quarantine: { code: 'CRON_RANGE' } })
    },
  )

  promise(
    'refuses a resume that is not paused, was edited meanwhile, or is gone',
    { kills: 'a resume does not look at the revision' },
    async (subject) => {
      const { store } = subject
      const schedule = await putNew(store)
      const nonRuns = [nonRun({ state: 'skipped', reason: 'paused', fromAt: 1, toAt: 2, count: 2 })]
      const change = { revision: schedule.revision, nextAt: 5, watermarkAt: 4, nonRuns, by: 'ana' }
      expect(await store.schedules.resume('default', 'sync', change)).toBe(false)
      expect(await current(subject)).toEqual(schedule)
      await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
      await store.schedules.put([putAgain(schedule, { job: 'other' })])
      const paused = (await current(subject))!
      expect(await store.schedules.resume('default', 'sync', { ...change, revision: paused.revision - 1 })).toBe(false)
      expect(await store.schedules.resume('default', 'gone', change)).toBe(false)
      expect(await current(subject)).toEqual(paused)
      expect(await store.history.nonRuns(schedule.id)).toEqual([])
    },
  )

  promise(
    'removes a schedule with what is still to come, and lets the rest go on',
    { kills: 'a removal deletes runs that are due' },
    async (subject) => {
      const { store } = subject
      const { schedule, ids } = await midway(subject)
      expect(await store.schedules.remove('default', 'sync', 'ana')).toBe(true)
      expect(await store.schedules.remove('default', 'sync', 'ana')).toBe(false)
      expect(await current(subject)).toBeNull()
      expect(await statesOf(store, ids)).toEqual(RETRACTED)
      expect((await store.planning.due({ lookaheadMs: DAY, limit: 10 })).schedules).toEqual([])
      expect(await store.planning.record([planFor(schedule, 1)])).toEqual(['stale'])
      const [due] = await claimed(store)
      expect(due).toMatchObject({ id: ids[1], schedule: { id: schedule.id, key: 'sync' } })
      expect((await putNew(store)).id).not.toBe(schedule.id)
    },
  )

  promise(
    'removes one workspace and touches no other',
    { kills: 'a removal forgets the workspace' },
    async (subject) => {
      const { store } = subject
      const [a, b, c] = [
        await plannedAhead(store, 2, { workspace: 't_1', key: 'a' }),
        await plannedAhead(store, 2, { workspace: 't_1', key: 'b' }),
        await plannedAhead(store, 2, { workspace: 't_2', key: 'a' }),
      ]
      await subject.advance(MINUTE)
      expect(await store.schedules.removeWorkspace('t_1', 'ana')).toBe(2)
      expect(await store.schedules.removeWorkspace('t_1', 'ana')).toBe(0)
      expect(await store.schedules.list({ limit: 10 })).toEqual([c.schedule])
      for (const { ids } of [a, b]) expect(await statesOf(store, ids)).toEqual(['pending', null])
      expect(await statesOf(store, c.ids)).toEqual(['pending', 'pending'])
    },
  )

  promise(
    'creates a schedule paused in one transaction',
    { kills: 'a schedule that is created paused is active first' },
    async (subject) => {
      const { store } = subject
      const pause = { reason: 'created paused', by: 'ana', until: null }
      const now = await store.now()
      const cursor = { nextAt: now + MINUTE, watermarkAt: now }
      const made = putOf(definitionOf(), cursor)
      const other = putOf(definitionOf({ key: 'active' }), cursor)
      const answers = await store.schedules.put([{ ...made, pause }, other])
      expect(answers).toMatchObject([
        { created: true, revision: 1, nextAt: null },
        { created: true, revision: 1, nextAt: other.nextAt },
      ])
      expect(await current(subject)).toMatchObject({ nextAt: null, revision: 1, pause })
      expect(await store.history.revisions(answers[0]!.id)).toMatchObject([
        { kind: 'paused', revision: 1, by: 'ana', before: { pause: null }, after: { pause } },
      ])
      const { schedules } = await store.planning.due({ lookaheadMs: DAY, limit: 10 })
      expect(schedules.map(({ key }) => key)).toEqual(['active'])
      const later = { ...pause, until: now + HOUR }
      const until = putOf(definitionOf({ key: 'until' }), cursor)
      expect(await store.schedules.put([{ ...until, pause: later }])).toMatchObject([{ nextAt: later.until }])
    },
  )

  promise(
    'keeps the state of a schedule that exists when it is put as paused',
    { kills: 'a put pauses a schedule that exists' },
    async (subject) => {
      const { store } = subject
      const schedule = await putNew(store)
      const pause = { reason: 'created paused', by: 'ana', until: null }
      for (const change of [{}, { job: 'other' }]) {
        const [answer] = await store.schedules.put([{ ...putAgain((await current(subject))!, change), pause }])
        expect(answer).toMatchObject({ id: schedule.id, created: false, nextAt: schedule.nextAt })
        expect(await current(subject)).toMatchObject({ pause: null, nextAt: schedule.nextAt })
      }
    },
  )
}
