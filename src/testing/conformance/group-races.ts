/** Planners, operators and openers that meet in one group: never are two of its runs open, and nobody fails on another. */
import { expect } from 'vitest'
import type { Store } from '../../store/contract/store.ts'
import { granted, groupPlan, move, plannedInGroup, readinessOf, SOON_MS } from './group-samples.ts'
import type { Group } from './harness.ts'
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

const GROUP = 'default\ncrm'

export const groupRaceTests: Group = (declare) => {
  const promise = racing(declare)

  for (const ending of ['commit', 'rollback'] as const) {
    const isCommit = ending === 'commit'
    const suffix = isCommit ? '' : ', and makes up for it when that is undone'

    promise(
      `opens one run of a concurrency group while another is being opened${suffix}`,
      'a concurrency group has two open runs',
      async (subject) => {
        const { store, advance } = subject
        const { ids } = await plannedInGroup(store, 3)
        await advance(MINUTE)
        await settled(store, await granted(store, ids[0]!), SUCCEEDED)
        await race(subject, {
          leased: (other) => move(other, { kind: 'ready', id: ids[1]! }),
          met: (own) => move(own, { kind: 'ready', id: ids[2]! }),
          ending,
        })
        // A store may leave a move undone that waited for somebody's lock; then the next look makes it.
        if (!isCommit) await move(store, { kind: 'ready', id: ids[2]! })
        expect(await readinessOf(store, ids.slice(1))).toEqual(
          isCommit ? ['ready', 'undecided'] : ['undecided', 'ready'],
        )
      },
    )

    promise(
      `opens one of two runs that are enqueued into a concurrency group at once${suffix}`,
      'an enqueue fails on another of its concurrency group',
      async (subject) => {
        const [theirs, ours] = [newRun({ group: GROUP, overlap: 'queue' }), newRun({ group: GROUP, overlap: 'queue' })]
        const answer = await race(subject, {
          leased: (store) => store.runs.enqueue([theirs]),
          met: (store) => store.runs.enqueue([ours]),
          ending,
        })
        expect(answer).toEqual([{ id: ours.id, created: true }])
        const readiness = await readinessOf(subject.store, [theirs.id, ours.id])
        expect(readiness).toEqual(isCommit ? ['ready', 'blocked'] : [null, 'ready'])
      },
    )

    promise(
      `opens one run of a concurrency group that two schedules share while both are planned${suffix}`,
      'a plan fails on another of its concurrency group',
      async (subject) => {
        const { store } = subject
        const firing = { ...definitionOf().firing, overlap: 'queue', concurrencyKey: 'crm' } as const
        const nextAt = (await store.now()) + SOON_MS
        const schedules = [
          await putNew(store, { key: 'a', firing }, { nextAt }),
          await putNew(store, { key: 'b', firing }, { nextAt }),
        ]
        const [theirs, ours] = schedules.map((schedule) => groupPlan(schedule, 1, { group: GROUP }))
        const record = (plan: typeof ours) => (on: Store) => on.planning.record([plan!])
        const answer = await race(subject, { leased: record(theirs), met: record(ours), ending })
        // Waiting for somebody's lock may make a plan stale; then the planner comes again.
        if (answer[0] === 'stale') expect(await store.planning.record([ours!])).toEqual(['recorded'])
        const readiness = await readinessOf(store, [theirs!.runs[0]!.id, ours!.runs[0]!.id])
        expect(readiness).toEqual(isCommit ? ['ready', 'undecided'] : [null, 'ready'])
      },
    )
  }

  promise(
    'brings back a run into a concurrency group that is just being taken',
    'a retry fails on another of its concurrency group',
    async (subject) => {
      const run = await running(subject.store, { group: GROUP, overlap: 'queue' })
      await settled(subject.store, run, FAILED)
      const taker = newRun({ group: GROUP, overlap: 'queue' })
      const answer = await race<unknown, string[]>(subject, {
        leased: (store) => store.runs.enqueue([taker]),
        met: (store) => store.runs.retry([run.id], 'ana'),
        ending: 'commit',
      })
      expect(answer).toEqual([run.id])
      expect(await readinessOf(subject.store, [taker.id, run.id])).toEqual(['ready', 'blocked'])
    },
  )

  promise('skips no run that is just being granted', 'a skip takes a run under its worker', async (subject) => {
    const { store, advance } = subject
    const { schedule, ids } = await plannedInGroup(store, 2, { overlap: 'cancel_previous' })
    await advance(2 * MINUTE)
    await race<unknown, void>(subject, {
      leased: (other) => claimed(other),
      met: (own) => move(own, { kind: 'skip', id: ids[0]!, behind: ids[1]! }, { kind: 'ready', id: ids[1]! }),
      ending: 'commit',
    })
    expect(await statesOf(store, ids)).toEqual(['running', 'pending'])
    expect(await readinessOf(store, ids)).toEqual(['ready', 'undecided'])
    expect(await store.history.nonRuns(schedule.id)).toEqual([])
  })
}
