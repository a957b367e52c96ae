/** Claims: only what is due, by priority, never to two at once. How a claim is kept and ended is `claims-renew.ts` and `claims-settle.ts`. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'
import { againIn, claimed, DAY, enqueued, HOUR, MINUTE, newRun, settled, wanting } from './samples.ts'

export const claimsGroup: Group = (promise) => {
  promise(
    'grants a run: attempt and fence one higher, a lease by its own clock',
    { kills: 'a grant does not count the attempt' },
    async ({ store, advance }) => {
      await advance(DAY)
      const before = await store.history.run(await enqueued(store))
      const answer = await store.claims.claim(wanting({ workerId: 'w7', leaseMs: 5000 }))
      expect(answer.now).toBeGreaterThanOrEqual(before!.createdAt)
      const grant = { state: 'running', workerId: 'w7', leaseUntil: answer.now + 5000, startedAt: answer.now }
      const claimId = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
      expect(answer.runs).toEqual([{ ...before, ...grant, attempt: 1, fence: 1, claimId }])
      expect(await store.history.run(before!.id)).toEqual(answer.runs[0])
    },
  )

  promise(
    'raises attempt and fence with every grant',
    { kills: 'a grant does not raise the fence' },
    async ({ store }) => {
      const id = await enqueued(store)
      const seen: (string | null)[] = []
      for (const grant of [1, 2, 3]) {
        const [run] = await claimed(store)
        expect(run).toMatchObject({ id, attempt: grant, fence: grant })
        expect(seen).not.toContain(run!.claimId)
        seen.push(run!.claimId)
        await settled(store, run!, againIn(0))
      }
    },
  )

  promise(
    'grants what is due, and nothing before',
    { kills: 'a claim does not look at the due time' },
    async ({ store, advance }) => {
      const [now, later] = [await enqueued(store), await enqueued(store, { due: { delayMs: HOUR } })]
      expect(await claimed(store)).toMatchObject([{ id: now }])
      await advance(HOUR - MINUTE)
      expect(await claimed(store)).toEqual([])
      await advance(MINUTE)
      expect(await claimed(store)).toMatchObject([{ id: later }])
    },
  )

  promise('grants nothing twice', { kills: 'a claim does not look at the state' }, async ({ store, advance }) => {
    const id = await enqueued(store)
    expect(await claimed(store)).toMatchObject([{ id }])
    expect(await claimed(store, { workerId: 'w2' })).toEqual([])
    // An ended lease is the reaper's business; a claim never takes it over.
    await advance(HOUR)
    expect(await claimed(store, { workerId: 'w2' })).toEqual([])
  })

  promise(
    'grants each run to one of two processes',
    { kills: 'a claim does not look at the state', needs: 'second' },
    async ({ store, second }) => {
      const other = await second()
      const runs = Array.from({ length: 60 }, () => newRun())
      await store.runs.enqueue(runs)
      const leasedRuns = await Promise.all(
        [store, other, store, other].map((one, i) =>
          claimed(one, { workerId: `w${i}`, wanted: [{ queue: 'default', limit: 20 }] }),
        ),
      )
      const ids = leasedRuns.flat().map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      const rest = await claimed(other)
      expect([...ids, ...rest.map(({ id }) => id)].sort()).toEqual(runs.map(({ id }) => id).sort())
    },
  )

  promise(
    'grants of each queue as many as are wanted, and of others none',
    { kills: 'a claim forgets the queue' },
    async ({ store }) => {
      const queues = ['a', 'a', 'a', 'b', 'b', 'c']
      await store.runs.enqueue(queues.map((queue) => newRun({ queue })))
      const wanted = [
        { queue: 'b', limit: 5 },
        { queue: 'a', limit: 2 },
        { queue: 'empty', limit: 5 },
      ]
      const granted = await claimed(store, { wanted })
      expect(granted.map(({ queue }) => queue).sort()).toEqual(['a', 'a', 'b', 'b'])
      expect(await claimed(store, { wanted: [{ queue: 'c', limit: 0 }] })).toEqual([])
      expect(await claimed(store, { wanted: [] })).toEqual([])
    },
  )

  promise(
    'grants the higher priority first, then what has been due for longest',
    { kills: 'a claim goes by the due time alone' },
    async ({ store, advance }) => {
      const now = await store.now()
      const order = [
        [9, 40],
        [5, 10],
        [5, 20],
        [5, 30],
        [0, 5],
      ] as const
      const shuffled = [4, 2, 0, 3, 1].map((i) => order[i]!)
      await store.runs.enqueue(shuffled.map(([priority, at]) => newRun({ priority, due: { at: now + at * 1000 } })))
      await advance(HOUR)
      const first = await claimed(store, { wanted: [{ queue: 'default', limit: 3 }] })
      const rest = await claimed(store)
      expect([first.length, rest.length]).toEqual([3, 2])
      const found = [...first, ...rest].map(({ priority, dueAt }) => [priority, (dueAt - now) / 1000])
      expect(found).toEqual(order)
    },
  )

  promise(
    'keeps a high priority that is still to come from holding up a low one',
    { kills: 'a claim stops at the first priority that has runs' },
    async ({ store }) => {
      await enqueued(store, { priority: 9, due: { delayMs: HOUR } })
      const low = await enqueued(store, { priority: 0 })
      expect(await claimed(store, { wanted: [{ queue: 'default', limit: 1 }] })).toMatchObject([{ id: low }])
    },
  )

  promise(
    'says when the next run of the wanted queues is due',
    { kills: 'the next due time is of any queue' },
    async ({ store }) => {
      const now = await store.now()
      const next = async (...queues: string[]): Promise<number | null> =>
        (await store.claims.claim(wanting({ wanted: queues.map((queue) => ({ queue, limit: 1 })) }))).nextDueAt
      const due = (queue: string, minutes: number, priority: number) =>
        newRun({ queue, priority, due: { at: now + minutes * MINUTE } })
      await store.runs.enqueue([due('a', 7, 9), due('a', 5, 0), due('a', 6, 5), due('b', 3, 5), due('c', 1, 5)])
      await store.runs.enqueue([newRun({ queue: 'a' }), newRun({ queue: 'a' }), newRun({ queue: 'd' })])
      expect(await next('a')).toBe(now + 5 * MINUTE)
      expect(await next('a', 'b')).toBe(now + 3 * MINUTE)
      expect(await next('d')).toBeNull()
      expect(await next('empty')).toBeNull()
    },
  )

  promise(
    'finds running runs whose lease has ended, the longest ended first',
    { kills: 'a lease that holds counts as ended' },
    async ({ store, advance }) => {
      for (const [workerId, leaseMs] of [
        ['w1', 3 * MINUTE],
        ['w2', MINUTE],
        ['w3', HOUR],
        ['w4', 2 * MINUTE],
      ] as const) {
        await enqueued(store)
        await claimed(store, { workerId, leaseMs })
      }
      await enqueued(store)
      expect(await store.claims.expired(10)).toEqual([])
      await advance(2.5 * MINUTE)
      const expired = await store.claims.expired(10)
      expect(expired.map(({ workerId }) => workerId)).toEqual(['w2', 'w4'])
      expect(expired[0]).toEqual({ ...(await store.history.run(expired[0]!.id)), hasBegun: true })
      await advance(MINUTE)
      expect((await store.claims.expired(2)).map(({ workerId }) => workerId)).toEqual(['w2', 'w4'])
    },
  )

  promise(
    'finds of one claim only the runs that were not renewed',
    { kills: 'a lease that holds counts as ended' },
    async ({ store, advance }) => {
      const ids = [await enqueued(store), await enqueued(store)]
      const [renewed, other] = await claimed(store, { leaseMs: MINUTE })
      expect([renewed!.id, other!.id].toSorted()).toEqual(ids.toSorted())
      const { id, fence, claimId } = renewed!
      await store.claims.renew(HOUR, [{ id, fence, claimId, progress: null }])
      await advance(2 * MINUTE)
      expect((await store.claims.expired(10)).map((run) => run.id)).toEqual([other!.id])
    },
  )
}
