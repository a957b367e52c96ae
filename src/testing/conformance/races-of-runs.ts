/** Workers, reapers and operators that meet at one run: one of them has it, and each of the others is told. */
import { expect } from 'vitest'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { atOnce, race, racing } from './race.ts'
import {
  CANCELLED,
  claimed,
  enqueued,
  FAILED,
  HOUR,
  MINUTE,
  newRun,
  running,
  SUCCEEDED,
  settled,
  settlement,
  statesOf,
} from './samples.ts'

export const racesOfRunsGroup: Group = (declare) => {
  const promise = racing(declare)
  const parallel = racing(declare, 'parallel')

  parallel(
    'claims beside a claim in flight without waiting, and never the same run',
    'a claim waits for locked rows',
    async ({ store, hold }) => {
      const ids = [await enqueued(store), await enqueued(store), await enqueued(store)]
      const other = await hold()
      const theirs = await claimed(other.store, { workerId: 'w2', wanted: [{ queue: 'default', limit: 2 }] })
      expect(theirs).toHaveLength(2)
      const ours = await atOnce(other, claimed(store))
      expect([...theirs, ...ours].map(({ id }) => id).sort()).toEqual([...ids].sort())
      await other.commit()
      expect(await claimed(store)).toEqual([])
    },
  )

  parallel(
    'grants again, as if nothing had been, what an undone claim had taken',
    'an undone claim counts',
    async ({ store, hold }) => {
      const id = await enqueued(store)
      const other = await hold()
      await claimed(other.store, { workerId: 'w2' })
      expect(await atOnce(other, claimed(store))).toEqual([])
      await other.rollback()
      expect(await claimed(store)).toMatchObject([{ id, attempt: 1, fence: 1, workerId: 'w1' }])
    },
  )

  parallel('claims nothing that is being cancelled', 'a claim waits for locked rows', async ({ store, hold }) => {
    const [id, other] = [await enqueued(store), await enqueued(store)]
    const operator = await hold()
    expect(await operator.store.runs.cancel(id, 'ana')).toBe('cancelled')
    expect(await atOnce(operator, claimed(store))).toMatchObject([{ id: other }])
    await operator.commit()
    expect(await statesOf(store, [id])).toEqual(['cancelled'])
  })

  for (const ending of ['commit', 'rollback'] as const) {
    const isCommit = ending === 'commit'
    const suffix = isCommit ? '' : ', and makes up for it when that is undone'

    promise(`takes one lock once while another takes it${suffix}`, 'a held lock is taken', async (subject) => {
      const answer = await race(subject, {
        leased: (store) => store.locks.acquire('janitor', 'n1', MINUTE),
        met: (store) => store.locks.acquire('janitor', 'n2', MINUTE),
        ending,
      })
      expect(answer === null).toBe(isCommit)
    })

    promise(
      `makes one run of one idempotency key while another enqueues it${suffix}`,
      'an idempotency key is looked up too early',
      async (subject) => {
        const [theirs, ours] = [newRun({ idempotencyKey: 'order-1' }), newRun({ idempotencyKey: 'order-1' })]
        const answer = await race(subject, {
          leased: (store) => store.runs.enqueue([theirs]),
          met: (store) => store.runs.enqueue([ours]),
          ending,
        })
        expect(answer).toEqual([{ id: isCommit ? theirs.id : ours.id, created: !isCommit }])
        expect(await subject.store.history.runs({}, { limit: 10 })).toHaveLength(1)
      },
    )

    promise(
      `accepts one result while another is being written${suffix}`,
      'a settlement is judged before its turn',
      async (subject) => {
        const run = await running(subject.store)
        const answer = await race(subject, {
          leased: (store) => settled(store, run, SUCCEEDED),
          met: (store) => settled(store, run, FAILED),
          ending,
        })
        expect(answer).toBe(isCommit ? 'refused' : 'accepted')
        expect(await statesOf(subject.store, [run.id])).toEqual([isCommit ? 'succeeded' : 'failed'])
        expect(await subject.store.history.runs({}, { limit: 10 })).toHaveLength(1)
      },
    )
  }

  promise(
    'spares a lease that is being renewed from the reaper',
    'the reaper judges by a lease it saw before',
    async (subject) => {
      const run = await running(subject.store)
      await subject.advance(HOUR)
      const answer = await race(subject, {
        leased: (store) =>
          store.claims.renew(MINUTE, [{ id: run.id, fence: run.fence, claimId: run.claimId, progress: null }]),
        met: (store) => store.claims.settle([settlement(run, FAILED, { onlyExpired: true })]),
        ending: 'commit',
      })
      expect(answer).toEqual(['refused'])
      expect(await statesOf(subject.store, [run.id])).toEqual(['running'])
    },
  )

  promise(
    'tells a worker that its run is lost while it is being settled',
    'a renewal does not see what it waited for',
    async (subject) => {
      const run = await running(subject.store)
      const answer = await race(subject, {
        leased: (store) => settled(store, run, SUCCEEDED),
        met: (store) =>
          store.claims.renew(MINUTE, [{ id: run.id, fence: run.fence, claimId: run.claimId, progress: null }]),
        ending: 'commit',
      })
      expect(answer.lost).toEqual([run.id])
    },
  )

  promise(
    'asks the worker to stop when a cancel meets a grant in flight',
    'a cancel loses a run that is being granted',
    async (subject) => {
      const id = await enqueued(subject.store)
      const answer = await race<unknown, string>(subject, {
        leased: (store) => claimed(store),
        met: (store) => store.runs.cancel(id, 'ana'),
        ending: 'commit',
      })
      expect(answer).toBe('cancelling')
      expect(await subject.store.history.run(id)).toMatchObject({ state: 'running', cancelRequested: true })
    },
  )

  promise(
    'says finished when a cancel meets a result in flight',
    'a cancel loses a run that is being settled',
    async (subject) => {
      const run = await running(subject.store)
      const answer = await race<unknown, string>(subject, {
        leased: (store) => settled(store, run, SUCCEEDED),
        met: (store) => store.runs.cancel(run.id, 'ana'),
        ending: 'commit',
      })
      expect(answer).toBe('finished')
      expect(await subject.store.history.run(run.id)).toMatchObject({ state: 'succeeded', cancelRequested: false })
    },
  )

  promise(
    'cancels a run that is just being given back',
    'a cancel loses a run that is being given back',
    async (subject) => {
      const run = await running(subject.store)
      const answer = await race<unknown, string>(subject, {
        leased: (store) =>
          settled(store, run, { kind: 'retry', delayMs: 0, reason: 'released', counts: false, error: null }),
        met: (store) => store.runs.cancel(run.id, 'ana'),
        ending: 'commit',
      })
      expect(answer).toBe('cancelled')
      expect(await statesOf(subject.store, [run.id])).toEqual(['cancelled'])
    },
  )

  promise('brings a failed run back once while another does', 'two retries make two runs', async (subject) => {
    const run = await running(subject.store)
    await settled(subject.store, run, FAILED)
    const retry = (store: Store): Promise<string[]> => store.runs.retry([run.id], 'ana')
    expect(await race(subject, { leased: retry, met: retry, ending: 'commit' })).toEqual([])
    expect(await subject.store.history.runs({}, { limit: 10 })).toHaveLength(1)
  })

  promise(
    'accepts a result that meets a cancel in flight',
    'a settlement fails on a row that changed meanwhile',
    async (subject) => {
      const run = await running(subject.store)
      const answer = await race<unknown, string>(subject, {
        leased: (store) => store.runs.cancel(run.id, 'ana'),
        met: (store) => settled(store, run, CANCELLED),
        ending: 'commit',
      })
      expect(answer).toBe('accepted')
      expect(await statesOf(subject.store, [run.id])).toEqual(['cancelled'])
    },
  )
}
