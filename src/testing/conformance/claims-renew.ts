/** Renewals: one write extends what is still the worker's, and names what it has lost and what it should stop. */
import { expect } from 'vitest'
import type { Run } from '../../run/run.ts'
import type { Renewal } from '../../store/contract/claims.ts'
import type { Group } from './harness.ts'
import { againIn, claimed, HOUR, MINUTE, newId, running, SUCCEEDED, settled } from './samples.ts'

const renewal = (run: Pick<Run, 'id' | 'fence' | 'claimId'>, progress: Renewal['progress'] = null): Renewal => ({
  id: run.id,
  fence: run.fence,
  claimId: run.claimId,
  progress,
})

export const claimsRenewGroup: Group = (promise) => {
  promise(
    'extends every lease of the worker, counted from now',
    { kills: 'a renewal does not extend the lease' },
    async ({ store, advance }) => {
      const runs = [await running(store), await running(store)]
      await advance(MINUTE / 2)
      const answer = await store.claims.renew(
        2 * MINUTE,
        runs.map((run) => renewal(run)),
      )
      expect(answer).toMatchObject({ lost: [], cancelling: [] })
      for (const run of runs)
        expect(await store.history.run(run.id)).toEqual({ ...run, leaseUntil: answer.now + 2 * MINUTE })
      await advance(1.5 * MINUTE)
      expect(await store.claims.expired(10)).toEqual([])
      expect(await store.claims.renew(MINUTE, [])).toMatchObject({ lost: [], cancelling: [] })
    },
  )

  promise('never shortens a lease', { kills: 'a renewal shortens a lease' }, async ({ store }) => {
    const run = await running(store)
    const { now } = await store.claims.renew(HOUR, [renewal(run)])
    await store.claims.renew(MINUTE, [renewal(run)])
    expect((await store.history.run(run.id))!.leaseUntil).toBe(now + HOUR)
  })

  promise(
    'revives a lease that ended while nobody else was granted the run',
    { kills: 'an ended lease cannot be renewed' },
    async ({ store, advance }) => {
      const run = await running(store)
      await advance(HOUR)
      expect(await store.claims.renew(MINUTE, [renewal(run)])).toMatchObject({ lost: [] })
      expect(await store.claims.expired(10)).toEqual([])
    },
  )

  promise(
    'names as lost what is held under another claim, though the fence is right',
    { kills: 'a renewal does not look at the claim' },
    async ({ store }) => {
      const [run, other] = [await running(store), await running(store)]
      const wrong = [
        { ...run, claimId: other.claimId },
        { ...run, claimId: newId() },
        { ...run, claimId: null },
      ]
      for (const each of wrong) {
        const answer = await store.claims.renew(HOUR, [renewal(each, { fraction: 0.5 })])
        expect(answer).toMatchObject({ lost: [run.id], cancelling: [] })
      }
      expect(await store.history.run(run.id)).toEqual(run)
    },
  )

  promise(
    'names as lost what was settled, given back, granted again or never was',
    { kills: 'a renewal does not look at the fence' },
    async ({ store, advance }) => {
      const [kept, done, back, regranted] = [
        await running(store),
        await running(store),
        await running(store),
        await running(store),
      ]
      await settled(store, done, SUCCEEDED)
      await settled(store, back, againIn(HOUR))
      await settled(store, regranted, againIn(0))
      const [theirs] = await claimed(store, { workerId: 'w2', wanted: [{ queue: regranted.queue, limit: 1 }] })
      await advance(MINUTE / 2)
      const unknown = { id: newId(), fence: 1, claimId: null }
      const asked = [done, kept, back, unknown, regranted]
      const answer = await store.claims.renew(
        HOUR,
        asked.map((run) => renewal(run)),
      )
      for (const fence of [kept.fence - 1, kept.fence + 1])
        expect(await store.claims.renew(HOUR, [renewal({ ...kept, fence })])).toMatchObject({ lost: [kept.id] })
      expect(answer.lost.toSorted()).toEqual([done.id, back.id, unknown.id, regranted.id].sort())
      expect(await store.history.run(theirs!.id)).toEqual(theirs)
      expect(await store.history.run(back.id)).toMatchObject({ state: 'pending', leaseUntil: null })
      expect((await store.history.run(kept.id))!.leaseUntil).toBe(answer.now + HOUR)
    },
  )

  promise(
    'names what an operator wants cancelled, and keeps its lease going',
    { kills: 'a cancel does not reach the worker' },
    async ({ store }) => {
      const [one, other] = [await running(store), await running(store)]
      await store.runs.cancel(one.id, 'ana')
      const answer = await store.claims.renew(HOUR, [renewal(one), renewal(other)])
      expect(answer).toMatchObject({ lost: [], cancelling: [one.id] })
      expect((await store.history.run(one.id))!.leaseUntil).toBe(answer.now + HOUR)
    },
  )

  promise(
    'keeps the progress that comes with a renewal, and the last one when none comes',
    { kills: 'progress is dropped' },
    async ({ store }) => {
      const run = await running(store)
      const half = { fraction: 0.5, note: 'rendering' }
      await store.claims.renew(MINUTE, [renewal(run, half)])
      expect((await store.history.run(run.id))!.progress).toEqual(half)
      await store.claims.renew(MINUTE, [renewal(run)])
      expect((await store.history.run(run.id))!.progress).toEqual(half)
      await store.claims.renew(MINUTE, [renewal({ ...run, fence: run.fence - 1 }, { fraction: 0.1 })])
      expect((await store.history.run(run.id))!.progress).toEqual(half)
    },
  )
}
