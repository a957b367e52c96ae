/** Planners, edits and removals that meet: nothing is planned twice, and nothing that was retracted comes through. */
import { expect } from 'vitest'
import type { Plan } from '../../plan/plan.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { race, racing } from './race.ts'
import { claimed, definitionOf, MINUTE, planFor, plannedAhead, putAgain, putNew, putOf, statesOf } from './samples.ts'

/** A store may call a plan stale when it waited long enough for somebody's lock; then the planner comes again. */
async function nextPass(store: Store, plan: Plan, [answer]: readonly string[]): Promise<string[]> {
  return answer === 'stale' ? store.planning.record([plan]) : [answer!]
}

export const racesOfPlansGroup: Group = (declare) => {
  const promise = racing(declare)

  for (const ending of ['commit', 'rollback'] as const) {
    const isCommit = ending === 'commit'
    const suffix = isCommit ? '' : ', and makes up for it when that is undone'

    promise(
      `writes a plan once while another planner writes it${suffix}`,
      'a plan does not look at the cursor',
      async (subject) => {
        const plan = planFor(await putNew(subject.store), 2)
        const record = (store: Store): Promise<string[]> => store.planning.record([plan])
        const answer = await race(subject, { leased: record, met: record, ending })
        expect(await nextPass(subject.store, plan, answer)).toEqual([isCommit ? 'stale' : 'recorded'])
        expect(await subject.store.history.runs({}, { limit: 10 })).toHaveLength(2)
      },
    )

    promise(
      `holds a plan stale that meets an edit in flight${suffix}`,
      'a plan does not look at the revision',
      async (subject) => {
        const schedule = await putNew(subject.store)
        const plan = planFor(schedule, 2)
        const answer = await race(subject, {
          leased: (store) => store.schedules.put([putAgain(schedule, { payload: 'new' })]),
          met: (store) => store.planning.record([plan]),
          ending,
        })
        expect(await nextPass(subject.store, plan, answer)).toEqual([isCommit ? 'stale' : 'recorded'])
        expect(await statesOf(subject.store, [plan.runs[0]!.id])).toEqual([isCommit ? null : 'pending'])
      },
    )

    promise(
      `creates one schedule while another creates it${suffix}`,
      'two creations fail on each other',
      async (subject) => {
        const puts = [putOf(definitionOf()), putOf(definitionOf())]
        const answer = await race(subject, {
          leased: (store) => store.schedules.put([puts[0]!]),
          met: (store) => store.schedules.put([puts[1]!]),
          ending,
        })
        expect(answer).toMatchObject([{ id: puts[isCommit ? 0 : 1]!.id, created: !isCommit, changed: !isCommit }])
        expect(await subject.store.schedules.list({ limit: 10 })).toHaveLength(1)
      },
    )
  }

  for (const ending of ['commit', 'rollback'] as const)
    promise(
      ending === 'commit'
        ? 'leaves a schedule as another caller just changed it, and says so'
        : 'changes a schedule when the change of another caller is undone',
      'an edit does not look at what its caller saw',
      async (subject) => {
        const schedule = await putNew(subject.store)
        const put = (job: string) => (store: Store) => store.schedules.put([putAgain(schedule, { job })])
        const [answer] = await race(subject, { leased: put('theirs'), met: put('ours'), ending })
        const isCommit = ending === 'commit'
        expect(answer).toMatchObject({ changed: !isCommit, differs: isCommit, revision: 2 })
        expect((await subject.store.schedules.get('default', 'sync'))!.job).toBe(isCommit ? 'theirs' : 'ours')
      },
    )

  const retractions = [
    [
      'an edit',
      (store: Store, planned: Parameters<typeof putAgain>[0]) =>
        store.schedules.put([putAgain(planned, { job: 'other' })]),
    ],
    ['a pause', (store: Store) => store.schedules.pause('default', 'sync', { reason: '', by: 'ana', until: null })],
    ['a removal', (store: Store) => store.schedules.remove('default', 'sync', 'ana')],
    ['the removal of a workspace', (store: Store) => store.schedules.removeWorkspace('default', 'ana')],
  ] as const
  for (const [name, retract] of retractions)
    promise(
      `retracts by ${name} what a planner was just writing`,
      'a retraction does not see what it waited for',
      async (subject) => {
        const schedule = await putNew(subject.store)
        const plan = planFor(schedule, 2)
        await race<unknown, unknown>(subject, {
          leased: (store) => store.planning.record([plan]),
          met: (store) => retract(store, schedule),
          ending: 'commit',
        })
        expect(
          await statesOf(
            subject.store,
            plan.runs.map(({ id }) => id),
          ),
        ).toEqual([null, null])
        const left = await subject.store.schedules.get('default', 'sync')
        if (name === 'an edit') expect(left).toMatchObject({ nextAt: schedule.nextAt, revision: 2 })
        else expect(left?.nextAt ?? null).toBeNull()
      },
    )

  promise(
    'leaves a run that is being granted to its worker when the schedule is removed',
    'a removal takes a run under its worker',
    async (subject) => {
      const { ids } = await plannedAhead(subject.store, 2)
      await subject.advance(MINUTE)
      await race<unknown, unknown>(subject, {
        leased: (store) => claimed(store),
        met: (store) => store.schedules.remove('default', 'sync', 'ana'),
        ending: 'commit',
      })
      expect(await statesOf(subject.store, ids)).toEqual(['running', null])
    },
  )
}
