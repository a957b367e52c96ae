/** Which runs of a claim have begun: a worker claims ahead, and what it never began must not count as an attempt. */
import { expect } from 'vitest'
import { RETURNED } from '../../run/settle.ts'
import { claimOrder } from '../../store/contract/claims.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { claimed, HOUR, MINUTE, newRun, SUCCEEDED, settled, settlement } from './samples.ts'

const COUNT = 6

/** Claims six runs, the most urgent first, of which two begin at once. */
async function claimedAhead(store: Store) {
  await store.runs.enqueue(Array.from({ length: COUNT }, (_, n) => newRun({ priority: n % 3 })))
  const wanted = [{ queue: 'default', limit: COUNT, startable: 2 }]
  const runs = [...(await claimed(store, { wanted }))].sort(claimOrder)
  const claimId = runs[0]!.claimId!
  expect(new Set(runs.map((run) => run.claimId))).toEqual(new Set([claimId]))
  return { runs, claimId }
}

const begunOf = async (store: Store): Promise<readonly (readonly [string, boolean])[]> =>
  (await store.claims.expired(100)).map(({ id, hasBegun }) => [id, hasBegun])

export const claimsBegunGroup: Group = (promise) => {
  promise(
    'counts as begun what begins at once, the most urgent first, and nothing else',
    { kills: 'a run that never began counts as begun' },
    async ({ store, advance }) => {
      const { runs } = await claimedAhead(store)
      await advance(HOUR)
      const begun = new Map(await begunOf(store))
      expect(runs.map(({ id }) => begun.get(id))).toEqual([true, true, false, false, false, false])
    },
  )

  promise(
    'counts all runs of a claim as begun when it does not say how many begin at once',
    { kills: 'a claim without a number begins nothing' },
    async ({ store, advance }) => {
      await store.runs.enqueue([newRun(), newRun()])
      await claimed(store)
      await advance(HOUR)
      expect((await begunOf(store)).map(([, hasBegun]) => hasBegun)).toEqual([true, true])
    },
  )

  promise(
    'hears of more with a renewal and with a settlement, and never of less',
    { kills: 'a count of what began is not written' },
    async ({ store, advance }) => {
      const { runs, claimId } = await claimedAhead(store)
      await store.claims.renew(MINUTE, [], [{ claimId, count: 4 }])
      await store.claims.renew(MINUTE, [], [{ claimId, count: 3 }])
      await advance(HOUR)
      const heard = new Map(await begunOf(store))
      expect(runs.map(({ id }) => heard.get(id))).toEqual([true, true, true, true, false, false])
      expect(await store.claims.settle([settlement(runs[0]!, SUCCEEDED)], [{ claimId, count: 5 }])).toEqual([
        'accepted',
      ])
      const begun = new Map(await begunOf(store))
      expect(runs.map(({ id }) => begun.get(id))).toEqual([undefined, true, true, true, true, false])
      await store.claims.renew(MINUTE, [], [{ claimId, count: COUNT }])
      expect((await begunOf(store)).every(([, hasBegun]) => hasBegun)).toBe(true)
    },
  )

  promise(
    'forgets a count with its claim: a run that is claimed again is judged by its new claim',
    { kills: 'a count outlives its claim' },
    async ({ store, advance }) => {
      const { runs } = await claimedAhead(store)
      const last = runs.at(-1)!
      await settled(store, last, RETURNED)
      const [again] = await claimed(store, { wanted: [{ queue: 'default', limit: 1 }] })
      expect(again).toMatchObject({ id: last.id, attempt: 1 })
      await advance(HOUR)
      expect(new Map(await begunOf(store)).get(last.id)).toBe(true)
    },
  )

  promise(
    'gives a run that goes back its place in the queue, uncounted',
    { kills: 'a run that goes back loses its place' },
    async ({ store, advance }) => {
      const { runs } = await claimedAhead(store)
      await advance(MINUTE)
      await store.runs.enqueue([newRun({ priority: runs[0]!.priority })])
      await settled(store, runs[0]!, RETURNED)
      const [again] = await claimed(store, { wanted: [{ queue: 'default', limit: 1 }] })
      expect(again).toMatchObject({ id: runs[0]!.id, dueAt: runs[0]!.dueAt, attempt: 1 })
    },
  )
}
