/** Hand-overs: a run stays running without a worker until somebody settles it under its fence, or its time is over. */
import { expect } from 'vitest'
import type { Run } from '../../run/run.ts'
import type { Store } from '../../store/contract/store.ts'
import { granted, move, plannedInGroup } from './group-samples.ts'
import type { Group } from './harness.ts'
import {
  againIn,
  claimed,
  FAILED,
  HOUR,
  MINUTE,
  newId,
  newRun,
  running,
  SUCCEEDED,
  settled,
  settlement,
} from './samples.ts'

const left = (
  store: Store,
  run: Pick<Run, 'id' | 'fence' | 'claimId'>,
  waitMs = HOUR,
): Promise<('accepted' | 'refused')[]> =>
  store.claims.handOver([{ id: run.id, fence: run.fence, claimId: run.claimId }], waitMs)

export const claimsHandOverGroup: Group = (promise) => {
  promise(
    'leaves a run running without a worker, for as long as was asked',
    { kills: 'a run that is handed over keeps its worker' },
    async ({ store, advance }) => {
      const [run, other] = [await running(store), await running(store)]
      await advance(MINUTE / 2)
      const now = await store.now()
      expect(await left(store, run)).toEqual(['accepted'])
      const seen = (await store.history.run(run.id))!
      expect(seen).toEqual({ ...run, workerId: null, leaseUntil: seen.leaseUntil })
      expect(seen.leaseUntil).toBeGreaterThanOrEqual(now + HOUR)
      expect(await store.history.run(other.id)).toEqual(other)
      expect(await claimed(store, { wanted: [{ queue: run.queue, limit: 1 }] })).toEqual([])
      expect(await store.claims.handOver([], HOUR)).toEqual([])
    },
  )

  promise(
    'hands over under the current fence only',
    { kills: 'a hand-over does not look at the fence' },
    async ({ store }) => {
      const [old, done] = [await running(store), await running(store)]
      await settled(store, old, againIn(0))
      const [theirs] = await claimed(store, { workerId: 'w2', wanted: [{ queue: old.queue, limit: 1 }] })
      await settled(store, done, SUCCEEDED)
      const unknown = { id: newId(), fence: 1, claimId: null }
      const asked = [old, theirs!, done, unknown].map(({ id, fence, claimId }) => ({ id, fence, claimId }))
      expect(await store.claims.handOver(asked, HOUR)).toEqual(['refused', 'accepted', 'refused', 'refused'])
      const { id, fence, claimId } = theirs!
      for (const wrong of [fence - 1, fence + 1])
        expect(await store.claims.handOver([{ id, fence: wrong, claimId }], HOUR)).toEqual(['refused'])
      expect(await store.history.run(theirs!.id)).toMatchObject({ state: 'running', workerId: null, fence: 2 })
    },
  )

  promise(
    'hands over nothing that is to be cancelled, so that its worker ends it',
    { kills: 'a hand-over hides a cancel' },
    async ({ store }) => {
      const run = await running(store)
      await store.runs.cancel(run.id, 'ana')
      expect(await left(store, run)).toEqual(['refused'])
      expect(await store.history.run(run.id)).toEqual({ ...run, cancelRequested: true })
    },
  )

  promise(
    'begins the wait again when asked again',
    { kills: 'a hand-over cannot be repeated' },
    async ({ store, advance }) => {
      const run = await running(store)
      await left(store, run, MINUTE)
      await advance(MINUTE / 2)
      expect(await left(store, run, MINUTE)).toEqual(['accepted'])
      await advance(MINUTE / 2 + 1)
      expect(await store.claims.expired(10)).toEqual([])
    },
  )

  promise(
    'keeps a late renewal of its worker from holding it longer',
    { kills: 'a renewal reaches what was handed over' },
    async ({ store }) => {
      const run = await running(store)
      await left(store, run, 10_000)
      const before = await store.history.run(run.id)
      const answer = await store.claims.renew(HOUR, [
        { id: run.id, fence: run.fence, claimId: run.claimId, progress: { fraction: 0.9 } },
      ])
      expect(answer.lost).toEqual([run.id])
      expect(await store.history.run(run.id)).toEqual(before)
    },
  )

  promise(
    'hands over under the current claim only',
    { kills: 'a hand-over does not look at the claim' },
    async ({ store }) => {
      const [run, other] = [await running(store), await running(store)]
      for (const claimId of [other.claimId, newId(), null])
        expect(await store.claims.handOver([{ id: run.id, fence: run.fence, claimId }], HOUR)).toEqual(['refused'])
      expect(await store.history.run(run.id)).toEqual(run)
    },
  )

  promise(
    'takes a result under its fence, once',
    { kills: 'what was handed over cannot be settled' },
    async ({ store }) => {
      const [good, bad, back] = [await running(store), await running(store), await running(store)]
      for (const run of [good, bad, back]) await left(store, run)
      const verdicts = [settlement(good, SUCCEEDED), settlement(bad, FAILED), settlement(back, againIn(0))]
      expect(await store.claims.settle(verdicts)).toEqual(['accepted', 'accepted', 'accepted'])
      expect(await store.claims.settle(verdicts)).toEqual(['refused', 'refused', 'refused'])
      const ended = await store.history.run(good.id)
      expect(ended).toMatchObject({ state: 'succeeded', workerId: null, leaseUntil: null, result: { sent: 3 } })
      expect(await store.history.run(bad.id)).toMatchObject({ state: 'failed', workerId: null })
      expect(await store.history.run(back.id)).toMatchObject({ state: 'pending', workerId: null })
      const [again] = await claimed(store, { wanted: [{ queue: back.queue, limit: 1 }] })
      expect(again).toMatchObject({ workerId: 'w1', attempt: 2, fence: 2 })
    },
  )

  promise(
    'names it as expired when its own time is over, also when that is sooner than its lease was',
    { kills: 'a hand-over is looked at when the old lease ends' },
    async ({ store, advance }) => {
      const [short, long] = [await running(store), await running(store)]
      await left(store, short, 1000)
      await left(store, long, HOUR)
      await advance(2000)
      expect((await store.claims.expired(10)).map(({ id, workerId }) => [id, workerId])).toEqual([[short.id, null]])
      expect(await store.claims.settle([settlement(short, FAILED, { workerId: 'reaper', onlyExpired: true })])).toEqual(
        ['accepted'],
      )
      await advance(2 * MINUTE)
      expect(await store.claims.expired(10)).toEqual([])
      await advance(HOUR)
      expect((await store.claims.expired(10)).map(({ id }) => id)).toEqual([long.id])
    },
  )

  promise(
    'is cancelled at once, since there is nobody to tell',
    { kills: 'a cancel waits for a worker that is not there' },
    async ({ store }) => {
      const run = await running(store)
      await left(store, run)
      expect(await store.runs.cancel(run.id, 'ana')).toBe('cancelled')
      const ended = await store.history.run(run.id)
      expect(ended).toMatchObject({ state: 'cancelled', workerId: null, leaseUntil: null, cancelRequested: true })
      expect(await store.history.journal({ runId: run.id })).toMatchObject([
        { kind: 'cancel_requested', data: { by: 'ana' } },
      ])
      expect(await settled(store, { ...run, workerId: '' }, SUCCEEDED)).toBe('refused')
    },
  )

  promise(
    'is cancelled at once by a newer run of its concurrency group',
    { kills: 'a concurrency group waits for a worker that is not there' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 2, { overlap: 'cancel_previous' })
      await advance(2 * MINUTE)
      await left(store, await granted(store, ids[0]!))
      await move(store, { kind: 'cancel', id: ids[0]!, for: ids[1]! })
      expect(await store.history.run(ids[0]!)).toMatchObject({ state: 'cancelled', leaseUntil: null })
      expect(await store.history.journal({ runId: ids[0]! })).toMatchObject([{ data: { by: 'overlap' } }])
      await move(store, { kind: 'ready', id: ids[1]! })
      await granted(store, ids[1]!)
    },
  )

  promise(
    'counts among what runs in a queue with a limit',
    { kills: 'a hand-over frees a place in its queue' },
    async ({ store }) => {
      await store.queues.configure([{ name: 'one', limits: { globalConcurrency: 1 } }])
      const run = await running(store, { queue: 'one' })
      await left(store, run)
      await store.runs.enqueue([newRun({ queue: 'one' })])
      expect(await claimed(store, { wanted: [{ queue: 'one', limit: 1 }] })).toEqual([])
      await settled(store, { ...run, workerId: '' }, SUCCEEDED)
      expect(await claimed(store, { wanted: [{ queue: 'one', limit: 1 }] })).toHaveLength(1)
    },
  )

  promise(
    'is shown without a worker wherever occurrences are listed',
    { kills: 'a list names a worker that is not there' },
    async ({ store, advance }) => {
      const { schedule, ids, firstAt } = await plannedInGroup(store, 1)
      await advance(MINUTE)
      await left(store, await granted(store, ids[0]!))
      const span = { afterAt: firstAt - 1, untilAt: firstAt }
      expect(await store.history.slots(schedule.id, span, 10)).toMatchObject([{ state: 'running', workerId: null }])
      expect((await store.history.latest([schedule.id], 1)).get(schedule.id)).toMatchObject([{ workerId: null }])
    },
  )
}
