/** Queues as rows: their limits and their rest, kept apart from each other, and what people are told of them. What limits do to claims is `queue-limits.ts`. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'
import { claimed, enqueued, HOUR, MINUTE, newRun, running, SUCCEEDED, settled } from './samples.ts'

const WORDS = { reason: 'outage', by: 'ana' }
const ofBoth = {
  wanted: [
    { queue: 'mail', limit: 9 },
    { queue: 'slow', limit: 9 },
  ],
}

export const queuesGroup: Group = (promise) => {
  promise(
    'grants nothing of a queue that rests, until it is resumed',
    { kills: 'a paused queue grants' },
    async ({ store }) => {
      await store.queues.pause('mail', WORDS)
      const runs = ['mail', 'mail', 'slow'].map((queue) => newRun({ queue }))
      await store.runs.enqueue(runs)
      expect(await claimed(store, ofBoth)).toMatchObject([{ queue: 'slow' }])
      expect(await claimed(store, { wanted: [{ queue: 'mail', limit: 9, fair: true }] })).toEqual([])
      expect(await store.queues.resume('mail')).toBe(true)
      expect(await claimed(store, ofBoth)).toHaveLength(2)
    },
  )

  promise(
    'lets what runs in a queue that rests go on',
    { kills: 'a pause of a queue ends its runs' },
    async ({ store }) => {
      const run = await running(store, { queue: 'mail' })
      await store.queues.pause('mail', WORDS)
      const renewed = await store.claims.renew(HOUR, [
        { id: run.id, fence: run.fence, claimId: run.claimId, progress: null },
      ])
      expect(renewed).toMatchObject({ lost: [], cancelling: [] })
      expect(await settled(store, run, SUCCEEDED)).toBe('accepted')
    },
  )

  promise(
    'says whether a queue rested when it is resumed',
    { kills: 'a resume of a queue always says yes' },
    async ({ store }) => {
      expect(await store.queues.resume('mail')).toBe(false)
      await store.queues.configure([{ name: 'mail', limits: {} }])
      expect(await store.queues.resume('mail')).toBe(false)
      await store.queues.pause('mail', WORDS)
      expect(await store.queues.resume('mail')).toBe(true)
      expect(await store.queues.resume('mail')).toBe(false)
    },
  )

  promise(
    'keeps limits and rest of a queue apart',
    { kills: 'a new limit lifts the pause of a queue' },
    async ({ store }) => {
      const limits = { globalConcurrency: 3, perWorkspace: 2, rateLimit: { count: 5, perMs: MINUTE } }
      const now = await store.now()
      await store.queues.configure([{ name: 'mail', limits: { globalConcurrency: 1 } }])
      await store.queues.pause('mail', WORDS)
      await store.queues.configure([
        { name: 'mail', limits },
        { name: 'slow', limits: {} },
      ])
      await store.queues.configure([])
      const [mail, slow, ...more] = await store.queues.list()
      const empty = { ready: 0, running: 0, oldestDueAt: null }
      expect(mail).toEqual({ name: 'mail', limits, pause: { ...WORDS, at: mail!.pause!.at }, ...empty })
      expect(mail!.pause!.at).toBeGreaterThanOrEqual(now)
      expect(slow).toEqual({ name: 'slow', limits: {}, pause: null, ...empty })
      expect(more).toEqual([])
      await store.queues.resume('mail')
      expect((await store.queues.list())[0]).toMatchObject({ limits, pause: null })
    },
  )

  promise(
    'lists every queue that is named or has live runs, with what waits and what runs',
    { kills: 'a queue is listed by its row alone' },
    async ({ store, advance }) => {
      await store.queues.configure([{ name: 'named', limits: {} }])
      await store.queues.pause('held', WORDS)
      const gone = await running(store, { queue: 'gone' })
      await settled(store, gone, SUCCEEDED)
      await running(store, { queue: 'busy' })
      const oldest = (await store.history.run(await enqueued(store, { queue: 'busy' })))!
      await advance(MINUTE)
      await store.runs.enqueue([newRun({ queue: 'busy' }), newRun({ queue: 'busy', due: { delayMs: HOUR } })])
      const rows = await store.queues.list()
      expect(rows.map(({ name }) => name)).toEqual(['busy', 'held', 'named'])
      expect(rows[0]).toEqual({
        ...{ name: 'busy', limits: {}, pause: null, ready: 2, running: 1, oldestDueAt: oldest.dueAt },
      })
      expect(rows[1]).toMatchObject({ pause: WORDS, ready: 0, running: 0 })
    },
  )

  promise(
    'sweeps queues in parts: those that were named, that are wanted or have running runs, and the next that only runs name',
    { kills: 'a sweep of queues ends before the last' },
    async ({ store }) => {
      await store.queues.configure([{ name: 'named', limits: {} }])
      for (const queue of ['a', 'b', 'c', 'd']) await enqueued(store, { queue, workspace: `w-${queue}` })
      const sweep = async (after: string, names: string[] = []) => {
        const { rows, next } = await store.queues.sweep({ after, limit: 2, names })
        return [rows.map(({ name }) => name), next]
      }
      expect(await sweep('')).toEqual([['a', 'b', 'named'], 'b'])
      expect(await sweep('b')).toEqual([['c', 'd', 'named'], 'd'])
      expect(await sweep('d')).toEqual([['named'], null])
      expect(await sweep('c', ['a', 'none'])).toEqual([['a', 'd', 'named', 'none'], null])
      const { rows } = await store.queues.sweep({ after: 'c', limit: 2, names: [] })
      expect(rows).toMatchObject([
        { name: 'd', configured: false, workspace: 'w-d', ready: 1 },
        { name: 'named', configured: true, workspace: null, ready: 0 },
      ])
    },
  )
}
