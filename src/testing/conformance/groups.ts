/** Concurrency groups: one run of each is open, the rest stand behind its gate, and a look finds those groups in which something is to be decided. */
import { expect } from 'vitest'
import { inLine, OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import type { Store } from '../../store/contract/store.ts'
import { granted, move, planMore, plannedInGroup, readinessOf, SOON_MS } from './group-samples.ts'
import type { Group } from './harness.ts'
import { againIn, claimed, enqueued, FAILED, MINUTE, newRun, running, SUCCEEDED, settled, wanting } from './samples.ts'

const found = async (store: Store, of?: readonly string[]): Promise<string[]> => {
  const { groups } = await store.groups.look({ limit: 10, ...(of ? { of } : {}) })
  return groups.map(({ group }) => group).sort()
}

export const groupTests: Group = (promise) => {
  promise(
    'opens the first run of a plan, and closes the rest',
    { kills: 'all runs of a plan are open' },
    async ({ store }) => {
      const { schedule, ids } = await plannedInGroup(store, 3, { overlap: 'queue_one' })
      expect(await readinessOf(store, ids)).toEqual(['ready', 'undecided', 'undecided'])
      expect(await store.history.run(ids[1]!)).toMatchObject({ group: schedule.id, overlap: 'queue_one' })
      const late = await plannedInGroup(store, 3, { change: { key: 'late' }, inMs: -5 * MINUTE })
      expect(await readinessOf(store, late.ids)).toEqual(['ready', 'undecided', 'undecided'])
    },
  )

  promise(
    'closes every run of a plan while another of its concurrency group is open, be it of another schedule',
    { kills: 'a plan opens a run beside an open one' },
    async ({ store, advance }) => {
      const first = await plannedInGroup(store, 1)
      expect(await readinessOf(store, await planMore(store, first, 2))).toEqual(['undecided', 'undecided'])
      await advance(MINUTE)
      await granted(store, first.ids[0]!)
      const other = await plannedInGroup(store, 1, { change: { key: 'other' }, group: first.schedule.id })
      expect(await readinessOf(store, other.ids)).toEqual(['undecided'])
    },
  )

  promise(
    'opens no run long before it is due, and asks for none to be opened',
    { kills: 'a run is opened long before it is due' },
    async ({ store, advance }) => {
      const { schedule, ids } = await plannedInGroup(store, 2, { inMs: OPEN_AHEAD_MS + MINUTE })
      expect(await readinessOf(store, ids)).toEqual(['undecided', 'undecided'])
      const later = await enqueued(store, { group: 'default\ncrm', overlap: 'queue', due: { delayMs: MINUTE } })
      expect(await readinessOf(store, [later])).toEqual(['blocked'])
      expect(await found(store)).toEqual([])
      // Somebody who comes meanwhile is not kept waiting by those who are not due.
      const now = await enqueued(store, { group: schedule.id, overlap: 'queue' })
      expect(await readinessOf(store, [now])).toEqual(['ready'])
      await settled(store, await granted(store, now), SUCCEEDED)
      expect(await found(store)).toEqual([])
      await advance(MINUTE)
      expect(await found(store)).toEqual([schedule.id, 'default\ncrm'].sort())
    },
  )

  promise(
    'lets no new plan overtake those that wait in a concurrency group',
    { kills: 'a plan opens a run before those that wait' },
    async ({ store, advance }) => {
      const planned = await plannedInGroup(store, 2, { overlap: 'skip' })
      await advance(MINUTE)
      await settled(store, await granted(store, planned.ids[0]!), SUCCEEDED)
      expect(await readinessOf(store, await planMore(store, planned, 1))).toEqual(['undecided'])
      const how = { change: { key: 'other' }, group: planned.schedule.id, inMs: SOON_MS + 2000 }
      expect(await readinessOf(store, (await plannedInGroup(store, 1, how)).ids)).toEqual(['undecided'])
      expect(await found(store)).toEqual([planned.schedule.id])
    },
  )

  promise(
    'grants no run behind the gate, and does not call it the next one due',
    { kills: 'a claim does not look at the gate' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 4)
      await advance(3 * MINUTE)
      await move(store, { kind: 'block', id: ids[1]! })
      const answer = await store.claims.claim(wanting())
      expect(answer.runs).toMatchObject([{ id: ids[0], readiness: 'ready' }])
      expect(answer.nextDueAt).toBeNull()
      expect(await claimed(store, { wanted: [{ queue: 'default', limit: 9, fair: true }] })).toEqual([])
      await store.queues.configure([{ name: 'default', limits: { globalConcurrency: 5 } }])
      expect(await claimed(store)).toEqual([])
    },
  )

  promise(
    'finds the concurrency groups in which nobody is open, or a closed run has come due, and no others',
    { kills: 'a look passes over a concurrency group' },
    async ({ store, advance }) => {
      const inOrder = await plannedInGroup(store, 1, { change: { key: 'in order' } })
      const waiting = await plannedInGroup(store, 2, { change: { key: 'waiting' } })
      const due = await plannedInGroup(store, 2, { change: { key: 'due' } })
      const free = await plannedInGroup(store, 2, { change: { key: 'free', queue: 'free' } })
      expect(await found(store)).toEqual([])
      await planMore(store, inOrder, 5)
      await advance(MINUTE)
      const [done] = await claimed(store, { wanted: [{ queue: 'free', limit: 1 }] })
      await settled(store, done!, SUCCEEDED)
      expect(await found(store)).toEqual([free.schedule.id])
      await move(store, { kind: 'ready', id: free.ids[1]! })
      await move(store, { kind: 'block', id: waiting.ids[1]! })
      expect(await found(store)).toEqual([])
      await advance(MINUTE)
      expect(await found(store)).toEqual([due.schedule.id, inOrder.schedule.id].sort())
    },
  )

  promise(
    'looks at the concurrency groups it is asked about only, and at no more than it is asked for',
    { kills: 'a look ignores what it was asked' },
    async ({ store, advance }) => {
      const names: string[] = []
      for (const key of ['a', 'b', 'c']) names.push((await plannedInGroup(store, 2, { change: { key } })).schedule.id)
      const quiet = await plannedInGroup(store, 1, { change: { key: 'quiet' } })
      await advance(2 * MINUTE)
      const [a, b] = names as [string, string]
      expect(await found(store, [b, a])).toEqual([a, b].sort())
      expect(await found(store, [b, quiet.schedule.id, 'nobody'])).toEqual([b])
      expect(await found(store, [])).toEqual([])
      expect((await store.groups.look({ limit: 2 })).groups).toHaveLength(2)
    },
  )

  promise(
    'tells of a concurrency group all that the decision needs, in nominal order',
    { kills: 'a concurrency group is read in part' },
    async ({ store, advance }) => {
      const { schedule, ids } = await plannedInGroup(store, 3, { overlap: 'cancel_previous' })
      await advance(MINUTE)
      await granted(store, ids[0]!)
      await store.runs.cancel(ids[0]!, 'ana')
      await advance(MINUTE)
      const byHand = await enqueued(store, { group: schedule.id, overlap: 'queue' })
      await move(store, { kind: 'block', id: ids[1]! })
      await advance(MINUTE)
      const before = await store.now()
      const { now, groups } = await store.groups.look({ limit: 10 })
      expect(now).toBeGreaterThanOrEqual(before)
      const known = []
      for (const id of [ids[0]!, ids[1]!, byHand, ids[2]!]) {
        const { state, readiness, overlap, scheduledAt, dueAt, fence, cancelRequested, ...run } =
          (await store.history.run(id))!
        const timing = { scheduledAt, dueAt }
        known.push({
          ...{ id, scheduleId: run.schedule?.id ?? null, state, readiness, overlap, ...timing, fence, cancelRequested },
        })
      }
      expect(groups.map(({ group, runs }) => ({ group, runs: runs.toSorted(inLine) }))).toEqual([
        { group: schedule.id, runs: known.toSorted((a, b) => inLine(a as never, b as never)) },
      ])
      expect(groups[0]!.runs.filter(({ readiness }) => readiness !== 'ready')).toEqual(
        groups[0]!.runs.filter(({ readiness }) => readiness !== 'ready').toSorted(inLine),
      )
    },
  )

  promise(
    'reads the first hundred behind a gate, and its open run',
    { kills: 'a long concurrency group is read whole' },
    async ({ store, advance }) => {
      const first = await enqueued(store, { group: 'default\ncrm', overlap: 'queue' })
      for (let batch = 0; batch < 12; batch += 1) {
        await advance(1)
        await store.runs.enqueue(Array.from({ length: 10 }, () => newRun({ group: 'default\ncrm', overlap: 'queue' })))
      }
      await settled(store, await granted(store, first), SUCCEEDED)
      const all = (await store.history.runs({ states: ['pending'] }, { limit: 200 })).sort((a, b) =>
        inLine(a as never, b as never),
      )
      expect(all).toHaveLength(120)
      const { groups } = await store.groups.look({ limit: 10 })
      expect(groups[0]!.runs.map(({ id }) => id)).toEqual(all.slice(0, 100).map(({ id }) => id))
    },
  )

  promise(
    'lets runs made by hand wait while their concurrency group is busy, and in while it is free',
    { kills: 'an enqueue opens a run beside an open one' },
    async ({ store }) => {
      const group = 'default\ncrm'
      const made = Array.from({ length: 3 }, () => newRun({ group, overlap: 'queue' }))
      await store.runs.enqueue(made.slice(0, 2))
      await store.runs.enqueue([newRun(), made[2]!])
      const ids = made.map(({ id }) => id)
      const readiness = await readinessOf(store, ids)
      expect(readiness.toSorted()).toEqual(['blocked', 'blocked', 'ready'])
      expect(readiness[2]).toBe('blocked')
      expect(await claimed(store)).toHaveLength(2)
      expect(await store.history.run(await enqueued(store, { group: 'default\nother' }))).toMatchObject({
        readiness: 'ready',
      })
    },
  )

  promise(
    'lets a run that was brought back wait while its concurrency group is busy, whatever its policy was',
    { kills: 'a retry opens a run beside an open one' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 2, { overlap: 'skip' })
      await advance(MINUTE)
      await settled(store, await granted(store, ids[0]!), FAILED)
      await move(store, { kind: 'ready', id: ids[1]! })
      expect(await store.runs.retry([ids[0]!], 'ana')).toEqual([ids[0]])
      expect(await store.history.run(ids[0]!)).toMatchObject({
        readiness: 'blocked',
        overlap: 'queue',
        state: 'pending',
      })
      const alone = await running(store, { group: 'default\ncrm', overlap: 'queue' })
      await settled(store, alone, FAILED)
      await store.runs.retry([alone.id], 'ana')
      expect(await store.history.run(alone.id)).toMatchObject({ readiness: 'ready', group: 'default\ncrm' })
    },
  )

  promise(
    'keeps the concurrency group of a run that goes back for another attempt',
    { kills: 'a retry gives up its concurrency group' },
    async ({ store, advance }) => {
      const { schedule, ids } = await plannedInGroup(store, 2)
      await advance(MINUTE)
      await settled(store, await granted(store, ids[0]!), againIn(MINUTE))
      expect(await store.history.run(ids[0]!)).toMatchObject({
        state: 'pending',
        readiness: 'ready',
        group: schedule.id,
      })
      expect(await found(store)).toEqual([])
      await move(store, { kind: 'ready', id: ids[1]! })
      expect(await readinessOf(store, ids)).toEqual(['ready', 'undecided'])
      await advance(MINUTE)
      await settled(store, await granted(store, ids[0]!), SUCCEEDED)
      expect(await store.history.run(ids[0]!)).toMatchObject({ group: schedule.id, overlap: 'queue' })
      expect(await found(store)).toEqual([schedule.id])
    },
  )
}
