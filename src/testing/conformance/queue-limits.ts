/** What a queue's limits do to claims, in all processes together; and turns, by which no workspace waits for the backlog of another. */
import { expect } from 'vitest'
import type { QueueLimits } from '../../run/queue-limits.ts'
import type { Run } from '../../run/run.ts'
import type { Wanted } from '../../store/contract/claims.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { race } from './race.ts'
import { againIn, claimed, HOUR, MINUTE, newRun, SUCCEEDED, settled, settlement, wanting } from './samples.ts'

const limit = (store: Store, limits: QueueLimits, name = 'default'): Promise<void> =>
  store.queues.configure([{ name, limits }])

/** So many due runs in each of these workspaces, one workspace after the other. */
async function backlog(store: Store, counts: Readonly<Record<string, number>>): Promise<void> {
  const runs = Object.entries(counts).flatMap(([workspace, count]) =>
    Array.from({ length: count }, () => newRun({ workspace })),
  )
  await store.runs.enqueue(runs)
}

const take = (store: Store, wanted: Partial<Wanted> = {}): Promise<readonly Run[]> =>
  claimed(store, { wanted: [{ queue: 'default', limit: 10, ...wanted }] })

const countsOf = (runs: readonly Run[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { workspace } of runs) counts[workspace] = (counts[workspace] ?? 0) + 1
  return counts
}

export const queueLimitsGroup: Group = (promise) => {
  promise(
    'works on no more runs of a queue at once than its limit, whichever process asks',
    { kills: 'a limit is forgotten', needs: 'second' },
    async ({ store, second, advance }) => {
      const other = await second()
      await limit(store, { globalConcurrency: 3 })
      await backlog(store, { default: 9 })
      const taken = (await Promise.all([take(store), take(other), take(store), take(other)])).flat()
      expect(taken).toHaveLength(3)
      // A lease that ended still counts: nobody knows yet that the work has.
      await advance(HOUR)
      expect(await take(other)).toEqual([])
      await settled(store, taken[0]!, SUCCEEDED)
      await settled(store, taken[1]!, againIn(HOUR))
      const next = (await Promise.all([take(store), take(other)])).flat()
      expect(next).toHaveLength(2)
    },
  )

  for (const ending of ['commit', 'rollback'] as const)
    promise(
      ending === 'commit'
        ? 'counts what another process is just being granted'
        : 'counts nothing of a grant that is undone',
      { kills: 'a limit is counted without a lock', needs: 'hold' },
      async (subject) => {
        for (const limits of [
          { globalConcurrency: 3 },
          { perWorkspace: 3 },
          { rateLimit: { count: 3, perMs: MINUTE } },
        ]) {
          const queue = Object.keys(limits)[0]!
          await limit(subject.store, limits, queue)
          await subject.store.runs.enqueue(Array.from({ length: 6 }, () => newRun({ queue })))
          const ours = await race(subject, {
            leased: (store) => take(store, { queue, limit: 2 }),
            met: (store) => take(store, { queue }),
            ending,
          })
          expect([queue, ours.length]).toEqual([queue, ending === 'commit' ? 1 : 3])
        }
      },
    )

  promise(
    'works on no more runs of a workspace at once than the limit of the queue',
    { kills: 'a limit of a workspace is forgotten' },
    async ({ store }) => {
      await limit(store, { perWorkspace: 2 })
      await backlog(store, { a: 50, b: 5, c: 1 })
      const taken = await take(store)
      expect(countsOf(taken)).toEqual({ a: 2, b: 2, c: 1 })
      expect(await take(store)).toEqual([])
      await store.claims.settle(taken.map((run) => settlement(run, SUCCEEDED)))
      expect(countsOf(await take(store))).toEqual({ a: 2, b: 2 })
      await limit(store, { perWorkspace: 3, globalConcurrency: 5 })
      expect(await take(store)).toHaveLength(1)
      expect((await store.queues.list())[0]!.running).toBe(5)
    },
  )

  promise(
    'grants no more in any stretch of time than the rate limit, and says when it goes on',
    { kills: 'a rate limit is forgotten', needs: 'second' },
    async ({ store, second, advance }) => {
      const other = await second()
      await limit(store, { rateLimit: { count: 5, perMs: MINUTE } })
      await backlog(store, { default: 20 })
      const first = await take(store, { limit: 3 })
      await advance(MINUTE / 2)
      const taken = (await Promise.all([take(store), take(other)])).flat()
      expect([first.length, taken.length]).toEqual([3, 2])
      await store.claims.settle([...first, ...taken].map((run) => settlement(run, SUCCEEDED)))
      const { now, runs, nextDueAt } = await store.claims.claim(wanting())
      expect(runs).toEqual([])
      expect(nextDueAt).toBeGreaterThanOrEqual(now + MINUTE / 2)
      expect(nextDueAt).toBeLessThanOrEqual(now + MINUTE / 2 + MINUTE / 50)
      await advance(nextDueAt! - now)
      expect(await take(other)).toHaveLength(3)
      await advance(MINUTE / 2 + MINUTE / 50)
      expect(await take(store)).toHaveLength(2)
    },
  )

  promise(
    'limits one queue and no other, until the limit is lifted',
    { kills: 'a limit of one queue holds up another' },
    async ({ store }) => {
      await limit(store, { globalConcurrency: 1, rateLimit: { count: 1, perMs: MINUTE } }, 'mail')
      const queues = ['mail', 'mail', 'mail', 'slow', 'slow', 'slow']
      await store.runs.enqueue(queues.map((queue) => newRun({ queue })))
      const wanted = ['slow', 'mail'].map((queue) => ({ queue, limit: 9 }))
      const taken = await claimed(store, { wanted })
      expect(taken.map(({ queue }) => queue).toSorted()).toEqual(['mail', 'slow', 'slow', 'slow'])
      expect(await claimed(store, { wanted })).toEqual([])
      await limit(store, {}, 'mail')
      expect(await claimed(store, { wanted })).toHaveLength(2)
    },
  )

  promise(
    'grants within its limits the higher priority first, and only what is due',
    { kills: 'a limited claim forgets the order' },
    async ({ store }) => {
      for (const limits of [{ globalConcurrency: 2 }, { perWorkspace: 2 }]) {
        const queue = Object.keys(limits)[0]!
        await limit(store, limits, queue)
        const runs = [1, 9, 5].map((priority) => newRun({ queue, priority }))
        await store.runs.enqueue([...runs, newRun({ queue, priority: 9, due: { delayMs: HOUR } })])
        const { now, ...answer } = await store.claims.claim(wanting({ wanted: [{ queue, limit: 9 }] }))
        expect(answer.runs.map(({ priority }) => priority)).toEqual([9, 5])
        expect(answer.nextDueAt === null || answer.nextDueAt > now).toBe(true)
      }
    },
  )

  promise(
    'gives a workspace with one run its turn beside one with a thousand',
    { kills: 'a long backlog holds up the others' },
    async ({ store, advance }) => {
      await backlog(store, { a: 1000 })
      await advance(MINUTE)
      await backlog(store, { b: 1 })
      expect(countsOf(await take(store))).toEqual({ a: 10 })
      const taken = await take(store, { fair: true })
      expect(countsOf(taken).b).toBe(1)
      expect(countsOf(await take(store, { fair: true }))).toEqual({ a: 10 })
    },
  )

  promise(
    'gives every workspace its turn, one after another and round again',
    { kills: 'turns begin again each time' },
    async ({ store }) => {
      const names = Array.from({ length: 40 }, (_, i) => `t_${String(i).padStart(2, '0')}`)
      await backlog(store, Object.fromEntries(names.map((name) => [name, 5])))
      const served = new Set<string>()
      let lastWorkspace: string | undefined
      for (let claims = 0; claims < 2; claims += 1) {
        const wanted = [
          { queue: 'default', limit: 40, fair: true, ...(lastWorkspace === undefined ? {} : { lastWorkspace }) },
        ]
        const { runs, lastWorkspaces } = await store.claims.claim(wanting({ wanted }))
        expect(runs).toHaveLength(40)
        for (const { workspace } of runs) served.add(workspace)
        lastWorkspace = lastWorkspaces.default
        expect(names).toContain(lastWorkspace)
      }
      expect(served.size).toBe(40)
    },
  )

  promise(
    'serves those after the last turn first, the most urgent of each, and goes round',
    { kills: 'a turn forgets the order inside a workspace' },
    async ({ store }) => {
      const runs = ['a', 'b', 'c'].flatMap((workspace) => [1, 7].map((priority) => newRun({ workspace, priority })))
      await store.runs.enqueue(runs)
      const ask = async (lastWorkspace?: string): Promise<[string[], string | undefined]> => {
        const wanted = [
          { queue: 'default', limit: 2, fair: true, ...(lastWorkspace === undefined ? {} : { lastWorkspace }) },
        ]
        const answer = await store.claims.claim(wanting({ wanted }))
        return [
          answer.runs.map(({ workspace, priority }) => `${workspace}${priority}`).sort(),
          answer.lastWorkspaces.default,
        ]
      }
      expect(await ask()).toEqual([['a7', 'b7'], 'b'])
      expect(await ask('b')).toEqual([['a1', 'c7'], 'a'])
      expect(await ask('a')).toEqual([['b1', 'c1'], 'c'])
      const plain = await store.claims.claim(wanting())
      expect(plain.lastWorkspaces).toEqual({})
    },
  )
}
