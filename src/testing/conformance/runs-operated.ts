/** What operators do to runs, in each of their states: cancel, which only asks where somebody is at work, and retry. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'
import {
  againIn,
  CANCELLED,
  claimed,
  enqueued,
  FAILED,
  HOUR,
  MINUTE,
  newId,
  running,
  SUCCEEDED,
  settled,
  settlement,
  statesOf,
} from './samples.ts'

export const runsOperatedGroup: Group = (promise) => {
  promise('cancels a pending run at once', { kills: 'a cancelled run stays in the queue' }, async ({ store }) => {
    const id = await enqueued(store)
    expect(await store.runs.cancel(id, 'ana')).toBe('cancelled')
    expect(await claimed(store)).toEqual([])
    const run = (await store.history.run(id))!
    expect(run).toMatchObject({ state: 'cancelled', attempt: 0 })
    expect(run.finishedAt).toBeGreaterThanOrEqual(run.createdAt)
    expect(await store.runs.cancel(id, 'ana')).toBe('finished')
    const journal = await store.history.journal({ runId: id })
    expect(journal).toMatchObject([{ kind: 'cancel_requested', data: { by: 'ana' } }])
  })

  promise(
    'asks the worker of a running run to stop, and says who asked',
    { kills: 'a cancel ends a run under its worker' },
    async ({ store }) => {
      const run = await running(store)
      expect(await store.runs.cancel(run.id, 'ana')).toBe('cancelling')
      expect(await store.runs.cancel(run.id, 'bo')).toBe('cancelling')
      expect(await store.history.run(run.id)).toEqual({ ...run, cancelRequested: true })
      const journal = await store.history.journal({ runId: run.id })
      expect(journal[0]).toMatchObject({ kind: 'cancel_requested', runId: run.id })
      expect(JSON.stringify(journal[0]!.data)).toContain('ana')
      expect(await settled(store, run, CANCELLED)).toBe('accepted')
      expect(await store.runs.cancel(run.id, 'ana')).toBe('finished')
    },
  )

  promise(
    'cancels nothing that has ended or never was',
    { kills: 'a cancel overwrites a result' },
    async ({ store }) => {
      for (const verdict of [SUCCEEDED, FAILED]) {
        const run = await running(store)
        await settled(store, run, verdict)
        const ended = await store.history.run(run.id)
        expect(await store.runs.cancel(run.id, 'ana')).toBe('finished')
        expect(await store.history.run(run.id)).toEqual(ended)
      }
      expect(await store.runs.cancel(newId(), 'ana')).toBe('not_found')
    },
  )

  promise(
    'remembers across a release that a run is to be cancelled',
    { kills: 'a release forgets the cancel' },
    async ({ store }) => {
      const run = await running(store)
      await store.runs.cancel(run.id, 'ana')
      await settled(store, run, againIn(0, false))
      const [again] = await claimed(store, { wanted: [{ queue: run.queue, limit: 1 }] })
      expect(again).toMatchObject({ id: run.id, cancelRequested: true })
      const renewed = await store.claims.renew(MINUTE, [
        { id: run.id, fence: again!.fence, claimId: again!.claimId, progress: null },
      ])
      expect(renewed.cancelling).toEqual([run.id])
    },
  )

  promise(
    'brings back a failed run with a new series of attempts, due at once',
    { kills: 'a retried run keeps its attempts' },
    async ({ store, advance }) => {
      const run = await running(store, { idempotencyKey: 'order-1' })
      await settled(store, run, FAILED)
      await advance(HOUR)
      const now = await store.now()
      expect(await store.runs.retry([run.id, run.id], 'ana')).toEqual([run.id])
      const back = (await store.history.run(run.id))!
      expect(back).toMatchObject({ state: 'pending', attempt: 0, finishedAt: null, workerId: null, leaseUntil: null })
      expect(back).toMatchObject({ payload: run.payload, createdAt: run.createdAt, idempotencyKey: 'order-1' })
      expect(back.dueAt).toBeGreaterThanOrEqual(now)
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(1)
      const [entry] = await store.history.journal({ runId: run.id })
      expect(entry).toMatchObject({ kind: 'retried' })
      expect(JSON.stringify(entry!.data)).toContain('ana')
      const [again] = await claimed(store, { wanted: [{ queue: run.queue, limit: 1 }] })
      expect(again).toMatchObject({ id: run.id, attempt: 1 })
    },
  )

  promise(
    'never lets a retried run take a result under a fence from before',
    { kills: 'a retried run starts its fence again' },
    async ({ store }) => {
      const run = await running(store)
      await settled(store, run, FAILED)
      await store.runs.retry([run.id], 'ana')
      expect(await settled(store, run, SUCCEEDED)).toBe('refused')
      const [again] = await claimed(store, { wanted: [{ queue: run.queue, limit: 1 }] })
      expect(again!.fence).toBeGreaterThan(run.fence)
      expect(await settled(store, run, SUCCEEDED)).toBe('refused')
      expect(await settled(store, again!, SUCCEEDED)).toBe('accepted')
    },
  )

  promise('retries failed runs only', { kills: 'a retry takes any finished run' }, async ({ store }) => {
    const [pending, live] = [await enqueued(store, { queue: 'other' }), await running(store)]
    const ended = [await running(store), await running(store), await running(store)]
    const verdicts = [SUCCEEDED, CANCELLED, FAILED]
    await store.claims.settle(ended.map((run, i) => settlement(run, verdicts[i]!)))
    const ids = [pending, live.id, ...ended.map(({ id }) => id), newId()]
    expect(await store.runs.retry(ids, 'ana')).toEqual([ended[2]!.id])
    expect(await statesOf(store, ids)).toEqual(['pending', 'running', 'succeeded', 'cancelled', 'pending', null])
    expect(await store.runs.retry([], 'ana')).toEqual([])
  })
}
