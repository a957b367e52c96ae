/** The moves of a concurrency group: each as it was decided, all of one group or none, and nothing where the group has changed meanwhile. */
import { expect } from 'vitest'
import { granted, move, plannedInGroup, readinessOf } from './group-samples.ts'
import type { Group } from './harness.ts'
import { againIn, claimed, MINUTE, newId, SUCCEEDED, settled, statesOf } from './samples.ts'

export const groupMoveTests: Group = (promise) => {
  promise(
    'opens a run that nobody is before, so that it is granted when it is due',
    { kills: 'an opened run stays behind the gate' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 3)
      await advance(MINUTE)
      await settled(store, await granted(store, ids[0]!), SUCCEEDED)
      await move(store, { kind: 'ready', id: ids[1]! })
      expect(await readinessOf(store, ids.slice(1))).toEqual(['ready', 'undecided'])
      expect(await claimed(store)).toEqual([])
      await advance(MINUTE)
      await granted(store, ids[1]!)
    },
  )

  promise(
    'never opens a second run of a concurrency group',
    { kills: 'a concurrency group has two open runs' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 3)
      await move(store, { kind: 'ready', id: ids[1]! })
      expect(await readinessOf(store, ids)).toEqual(['ready', 'undecided', 'undecided'])
      await advance(MINUTE)
      await settled(store, await granted(store, ids[0]!), SUCCEEDED)
      await store.groups.apply([[{ kind: 'ready', id: ids[1]! }], [{ kind: 'ready', id: ids[2]! }]])
      expect((await readinessOf(store, ids.slice(1))).toSorted()).toEqual(['ready', 'undecided'])
    },
  )

  promise(
    'lets a run wait, and in later',
    { kills: 'a waiting run counts as undecided' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 2)
      await advance(2 * MINUTE)
      await move(store, { kind: 'block', id: ids[1]! })
      expect(await readinessOf(store, ids)).toEqual(['ready', 'blocked'])
      await settled(store, await granted(store, ids[0]!), SUCCEEDED)
      await move(store, { kind: 'ready', id: ids[1]! })
      await granted(store, ids[1]!)
    },
  )

  promise(
    'makes a skipped run a record that names the run it came behind',
    { kills: 'a skipped run leaves no record' },
    async ({ store, advance }) => {
      const { schedule, ids, firstAt } = await plannedInGroup(store, 2, { overlap: 'skip' })
      await advance(2 * MINUTE)
      await move(store, { kind: 'skip', id: ids[1]!, behind: ids[0]! })
      expect(await statesOf(store, ids)).toEqual(['pending', null])
      const at = firstAt + MINUTE
      const [record, ...more] = await store.history.nonRuns(schedule.id)
      const words = { state: 'skipped', reason: 'overlap', detail: ids[0], fromAt: at, toAt: at, count: 1 }
      expect(record).toEqual({ scheduleId: schedule.id, recordedAt: record!.recordedAt, ...words })
      expect(more).toEqual([])
    },
  )

  promise(
    'skips no run when the one it came behind is gone',
    { kills: 'a run gives way to nobody' },
    async ({ store, advance }) => {
      const { schedule, ids } = await plannedInGroup(store, 2, { overlap: 'skip' })
      await advance(2 * MINUTE)
      await settled(store, await granted(store, ids[0]!), SUCCEEDED)
      await move(store, { kind: 'skip', id: ids[1]!, behind: ids[0]! })
      expect(await statesOf(store, ids)).toEqual(['succeeded', 'pending'])
      expect(await store.history.nonRuns(schedule.id)).toEqual([])
    },
  )

  promise(
    'brings a run that is to be cancelled back at once, however long its retry would wait',
    { kills: 'a run to be cancelled keeps its concurrency group while it waits' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 2, { overlap: 'cancel_previous' })
      await advance(2 * MINUTE)
      const run = await granted(store, ids[0]!)
      await move(store, { kind: 'cancel', id: ids[0]!, for: ids[1]! }, { kind: 'block', id: ids[1]! })
      await settled(store, run, againIn(60 * MINUTE))
      expect(await granted(store, ids[0]!)).toMatchObject({ cancelRequested: true })
    },
  )

  promise(
    'opens a run in the place of one that gives way to it',
    { kills: 'moves of one concurrency group do not see each other' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 2, { overlap: 'cancel_previous' })
      await advance(2 * MINUTE)
      await move(store, { kind: 'skip', id: ids[0]!, behind: ids[1]! }, { kind: 'ready', id: ids[1]! })
      expect(await readinessOf(store, ids)).toEqual([null, 'ready'])
      await granted(store, ids[1]!)
    },
  )

  promise(
    'folds neighbours that were skipped behind the same run, and no others',
    { kills: 'a skip grows a record that says something else' },
    async ({ store, advance }) => {
      const { schedule, ids, firstAt } = await plannedInGroup(store, 8, { overlap: 'skip' })
      await advance(9 * MINUTE)
      const skip = (n: number, behind: number) => ({ kind: 'skip', id: ids[n]!, behind: ids[behind]! }) as const
      // The third in a call of its own, the fifth behind another, and the seventh with a run between.
      await move(store, skip(1, 0), skip(2, 0))
      await move(store, skip(3, 0))
      await move(store, skip(4, 7))
      await move(store, skip(6, 7))
      const told = (await store.history.nonRuns(schedule.id)).map(({ fromAt, toAt, count, detail }) => [
        ...[(fromAt - firstAt) / MINUTE, (toAt - firstAt) / MINUTE, count, ids.indexOf(detail)],
      ])
      expect(told).toEqual([
        [1, 3, 3, 0],
        [4, 4, 1, 7],
        [6, 6, 1, 7],
      ])
    },
  )

  promise('skips no run that began', { kills: 'a skip takes a run under its worker' }, async ({ store, advance }) => {
    const { schedule, ids } = await plannedInGroup(store, 2, { overlap: 'cancel_previous' })
    const skip = { kind: 'skip', id: ids[0]!, behind: ids[1]! } as const
    await advance(2 * MINUTE)
    const run = await granted(store, ids[0]!)
    await move(store, skip)
    expect(await store.history.run(ids[0]!)).toEqual(run)
    await settled(store, run, againIn(MINUTE, false))
    await move(store, skip)
    expect(await statesOf(store, ids)).toEqual(['pending', 'pending'])
    expect(await store.history.nonRuns(schedule.id)).toEqual([])
  })

  promise(
    'asks the worker of a running run to stop, in the name of the overlap',
    { kills: 'a cancelled predecessor is not told' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 2, { overlap: 'cancel_previous' })
      await advance(2 * MINUTE)
      const run = await granted(store, ids[0]!)
      await move(store, { kind: 'cancel', id: run.id, for: ids[1]! }, { kind: 'block', id: ids[1]! })
      expect(await store.history.run(run.id)).toEqual({ ...run, cancelRequested: true })
      const renewed = await store.claims.renew(MINUTE, [
        { id: run.id, fence: run.fence, claimId: run.claimId, progress: null },
      ])
      expect(renewed.cancelling).toEqual([run.id])
      const journal = await store.history.journal({ runId: run.id })
      expect(journal).toMatchObject([{ kind: 'cancel_requested', data: { by: 'overlap' } }])
      expect(await readinessOf(store, ids)).toEqual(['ready', 'blocked'])
    },
  )

  promise(
    'ends a predecessor as cancelled where nobody works on it',
    { kills: 'a cancelled predecessor is tried again' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 2, { overlap: 'cancel_previous' })
      await advance(2 * MINUTE)
      await settled(store, await granted(store, ids[0]!), againIn(MINUTE))
      await move(store, { kind: 'cancel', id: ids[0]!, for: ids[1]! }, { kind: 'block', id: ids[1]! })
      expect(await statesOf(store, ids)).toEqual(['cancelled', 'pending'])
      expect((await store.groups.look({ limit: 10 })).groups).toHaveLength(1)
    },
  )

  promise(
    'makes all moves of a concurrency group or none, and those of the next concurrency group all the same',
    { kills: 'a concurrency group is moved in part' },
    async ({ store, advance }) => {
      const a = await plannedInGroup(store, 3, { change: { key: 'a' } })
      const b = await plannedInGroup(store, 2, { change: { key: 'b' } })
      await advance(3 * MINUTE)
      await granted(store, a.ids[0]!)
      await store.groups.apply([
        [
          { kind: 'block', id: a.ids[1]! },
          { kind: 'skip', id: a.ids[2]!, behind: a.ids[0]! },
          { kind: 'skip', id: a.ids[0]!, behind: a.ids[2]! },
        ],
        [{ kind: 'block', id: b.ids[1]! }],
      ])
      expect(await readinessOf(store, a.ids)).toEqual(['ready', 'undecided', 'undecided'])
      expect(await store.history.nonRuns(a.schedule.id)).toEqual([])
      expect(await readinessOf(store, b.ids)).toEqual(['ready', 'blocked'])
      await store.groups.apply([])
    },
  )

  promise(
    'moves nothing that has changed since it was looked at',
    { kills: 'a stale move is made' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 3)
      await advance(3 * MINUTE)
      const run = await granted(store, ids[0]!)
      await move(store, { kind: 'block', id: run.id })
      expect(await store.history.run(run.id)).toEqual(run)
      await settled(store, run, SUCCEEDED)
      await move(store, { kind: 'ready', id: run.id }, { kind: 'block', id: ids[1]! })
      await move(store, { kind: 'block', id: ids[1]! }, { kind: 'skip', id: newId(), behind: ids[1]! })
      await move(store, { kind: 'cancel', id: run.id, for: ids[1]! }, { kind: 'block', id: ids[1]! })
      expect(await statesOf(store, ids)).toEqual(['succeeded', 'pending', 'pending'])
      expect(await readinessOf(store, ids.slice(1))).toEqual(['undecided', 'undecided'])
      expect(await store.history.journal({ runId: run.id })).toEqual([])
    },
  )
}
