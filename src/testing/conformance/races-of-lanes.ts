/** Planners, operators and openers that meet in one lane: never are two of its runs open, and nobody fails on another. */
import { expect } from 'vitest'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { gatesOf, granted, lanePlan, move, plannedInLane, SOON_MS } from './lane-samples.ts'
import { race, racing } from './race.ts'
import {
  claimed,
  definitionOf,
  FAILED,
  MINUTE,
  newRun,
  putNew,
  running,
  SUCCEEDED,
  settled,
  statesOf,
} from './samples.ts'

const LANE = 'default\ncrm'

export const racesOfLanesGroup: Group = (declare) => {
  const promise = racing(declare)

  for (const ending of ['commit', 'rollback'] as const) {
    const isCommit = ending === 'commit'
    const suffix = isCommit ? '' : ', and makes up for it when that is undone'

    promise(
      `opens one run of a lane while another is being opened${suffix}`,
      'a lane has two open runs',
      async (subject) => {
        const { store, advance } = subject
        const { ids } = await plannedInLane(store, 3)
        await advance(MINUTE)
        await settled(store, await granted(store, ids[0]!), SUCCEEDED)
        await race(subject, {
          held: (other) => move(other, { kind: 'open', id: ids[1]! }),
          met: (own) => move(own, { kind: 'open', id: ids[2]! }),
          ending,
        })
        // A store may leave a move undone that waited for somebody's lock; then the next look makes it.
        if (!isCommit) await move(store, { kind: 'open', id: ids[2]! })
        expect(await gatesOf(store, ids.slice(1))).toEqual(isCommit ? ['open', 'closed'] : ['closed', 'open'])
      },
    )

    promise(
      `opens one of two runs that are enqueued into a lane at once${suffix}`,
      'an enqueue fails on another of its lane',
      async (subject) => {
        const [theirs, ours] = [newRun({ lane: LANE, overlap: 'queue' }), newRun({ lane: LANE, overlap: 'queue' })]
        const answer = await race(subject, {
          held: (store) => store.runs.enqueue([theirs]),
          met: (store) => store.runs.enqueue([ours]),
          ending,
        })
        expect(answer).toEqual([{ id: ours.id, created: true }])
        const gates = await gatesOf(subject.store, [theirs.id, ours.id])
        expect(gates).toEqual(isCommit ? ['open', 'waiting'] : [null, 'open'])
      },
    )

    promise(
      `opens one run of a lane that two schedules share while both are planned${suffix}`,
      'a plan fails on another of its lane',
      async (subject) => {
        const { store } = subject
        const firing = { ...definitionOf().firing, overlap: 'queue', concurrencyKey: 'crm' } as const
        const nextAt = (await store.now()) + SOON_MS
        const schedules = [
          await putNew(store, { key: 'a', firing }, { nextAt }),
          await putNew(store, { key: 'b', firing }, { nextAt }),
        ]
        const [theirs, ours] = schedules.map((schedule) => lanePlan(schedule, 1, { lane: LANE }))
        const record = (plan: typeof ours) => (on: Store) => on.planning.record([plan!])
        const answer = await race(subject, { held: record(theirs), met: record(ours), ending })
        // Waiting for somebody's lock may make a plan stale; then the planner comes again.
        if (answer[0] === 'stale') expect(await store.planning.record([ours!])).toEqual(['recorded'])
        const gates = await gatesOf(store, [theirs!.runs[0]!.id, ours!.runs[0]!.id])
        expect(gates).toEqual(isCommit ? ['open', 'closed'] : [null, 'open'])
      },
    )
  }

  promise(
    'brings back a run into a lane that is just being taken',
    'a redrive fails on another of its lane',
    async (subject) => {
      const run = await running(subject.store, { lane: LANE, overlap: 'queue' })
      await settled(subject.store, run, FAILED)
      const taker = newRun({ lane: LANE, overlap: 'queue' })
      const answer = await race<unknown, string[]>(subject, {
        held: (store) => store.runs.enqueue([taker]),
        met: (store) => store.runs.redrive([run.id], 'ana'),
        ending: 'commit',
      })
      expect(answer).toEqual([run.id])
      expect(await gatesOf(subject.store, [taker.id, run.id])).toEqual(['open', 'waiting'])
    },
  )

  promise('skips no run that is just being granted', 'a skip takes a run under its worker', async (subject) => {
    const { store, advance } = subject
    const { schedule, ids } = await plannedInLane(store, 2, { overlap: 'cancel_previous' })
    await advance(2 * MINUTE)
    await race<unknown, void>(subject, {
      held: (other) => claimed(other),
      met: (own) => move(own, { kind: 'skip', id: ids[0]!, behind: ids[1]! }, { kind: 'open', id: ids[1]! }),
      ending: 'commit',
    })
    expect(await statesOf(store, ids)).toEqual(['running', 'pending'])
    expect(await gatesOf(store, ids)).toEqual(['open', 'closed'])
    expect(await store.history.nonRuns(schedule.id)).toEqual([])
  })
}
