/** Changes of a schedule: made only from what the caller saw, and each told with who, when, before and after, for good. */
import { expect } from 'vitest'
import type { ScheduleDefinition } from '../../schedule/schedule.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { definitionOf, HOUR, MINUTE, newId, planFor, plannedAhead, putAgain, putNew, putOf } from './samples.ts'

const told = async (store: Store, id: string): Promise<string[]> =>
  (await store.history.revisions(id)).map(({ kind, by }) => `${kind} by ${by}`)

/** A definition as a revision tells it. */
const words = ({ workspace, key, ...rest }: ScheduleDefinition) => rest

export const revisionsGroup: Group = (promise) => {
  promise(
    'changes a schedule only for a caller who saw it as it is',
    { kills: 'an edit does not look at what its caller saw' },
    async ({ store }) => {
      const schedule = await putNew(store)
      const put = putAgain(schedule, { job: 'other' })
      for (const from of [null, 0, 2]) {
        const [answer] = await store.schedules.put([{ ...put, from }])
        expect(answer).toMatchObject({ id: schedule.id, changed: false, created: false, differs: true, revision: 1 })
        expect(await store.schedules.get('default', 'sync')).toEqual(schedule)
      }
      const same = putAgain(schedule, {})
      expect(await store.schedules.put([{ ...same, from: null }])).toMatchObject([{ changed: false, differs: false }])
      expect(await store.schedules.put([put])).toMatchObject([{ changed: true, differs: false, revision: 2 }])
    },
  )

  promise(
    'writes nothing of a call in which one schedule is otherwise',
    { kills: 'a call is written though one schedule differs' },
    async ({ store }) => {
      const [a, b] = [await plannedAhead(store, 2, { key: 'a' }), await plannedAhead(store, 2, { key: 'b' })]
      const before = await store.schedules.list({ limit: 10 })
      const fresh = putOf(definitionOf({ key: 'fresh' }))
      const stale = { ...putAgain(b.schedule, { job: 'other' }), from: null }
      const answers = await store.schedules.put([fresh, putAgain(a.schedule, { job: 'other' }), stale])
      expect(answers.map(({ differs }) => differs)).toEqual([false, false, true])
      expect(await store.schedules.list({ limit: 10 })).toEqual(before)
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(4)
      expect(await store.history.revisions(a.schedule.id)).toEqual([])
    },
  )

  promise(
    'tells of an edit who, when, and how the schedule was before and after',
    { kills: 'a revision is kept in part' },
    async ({ store, advance }) => {
      const { schedule } = await plannedAhead(store, 2, { workspace: 't_42' })
      await advance(MINUTE)
      const now = await store.now()
      const put = { ...putAgain(schedule, { payload: { n: [2] } }), by: 'bo' }
      await store.schedules.put([put])
      const edited = (await store.schedules.get('t_42', 'sync'))!
      expect(edited).toMatchObject({ createdBy: 'ana', updatedBy: 'bo', sinceAt: schedule.sinceAt })
      const [revision, ...more] = await store.history.revisions(schedule.id)
      const of = { scheduleId: schedule.id, workspace: 't_42', key: 'sync', kind: 'edited', revision: 2, by: 'bo' }
      const { before, after } = { before: words(putAgain(schedule, {}).definition), after: words(put.definition) }
      expect(revision).toEqual({ ...of, at: revision!.at, cutAt: edited.watermarkAt, before, after })
      expect(revision!.at).toBeGreaterThanOrEqual(now)
      expect(more).toEqual([])
      await store.schedules.put([putAgain(edited, {})])
      expect(await store.history.revisions(schedule.id)).toHaveLength(1)
    },
  )

  promise(
    'tells of pauses and their ends, by hand or at their time',
    { kills: 'a pause is no revision' },
    async ({ store }) => {
      const { id, revision } = await putNew(store)
      const until = (await store.now()) + HOUR
      await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'bo', until: null })
      const { pause, watermarkAt } = (await store.schedules.get('default', 'sync'))!
      await store.schedules.resume('default', 'sync', { revision, nextAt: until, watermarkAt, nonRuns: [], by: 'cy' })
      await store.schedules.pause('default', 'sync', { reason: '', by: 'bo', until })
      const paused = (await store.schedules.get('default', 'sync'))!
      await store.planning.record([planFor(paused, 0, { nextAt: until + MINUTE, watermarkAt: until, resumes: true })])
      expect(await told(store, id)).toEqual(['paused by bo', 'resumed by cy', 'paused by bo', 'resumed by everytick'])
      const revisions = await store.history.revisions(id)
      expect(revisions[0]).toMatchObject({ before: { pause: null }, after: { pause }, revision, cutAt: watermarkAt })
      expect(revisions[1]).toMatchObject({ before: { pause }, after: { pause: null } })
      expect(revisions[3]).toMatchObject({ before: { pause: paused.pause }, after: { pause: null }, cutAt: until })
    },
  )

  promise(
    'tells of schedules that are gone, whoever removed them',
    { kills: 'revisions go with their schedule' },
    async ({ store }) => {
      const schedule = await putNew(store)
      const others = [
        await putNew(store, { workspace: 't_1', key: 'a' }),
        await putNew(store, { workspace: 't_1', key: 'b' }),
      ]
      await store.schedules.put([putAgain(schedule, { job: 'other' })])
      await store.schedules.remove('default', 'sync', 'bo')
      expect(await told(store, schedule.id)).toEqual(['edited by ana', 'removed by bo'])
      const [, removed] = await store.history.revisions(schedule.id)
      expect(removed).toMatchObject({ before: { job: 'other', payload: schedule.payload }, after: null })
      await store.schedules.removeWorkspace('t_1', 'cy')
      for (const { id } of others) expect(await told(store, id)).toEqual(['removed by cy'])
      expect(await store.history.revisions(newId())).toEqual([])
      expect(await store.history.revisions('nonsense')).toEqual([])
    },
  )
}
