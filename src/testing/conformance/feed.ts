/** What has happened, told from the rows of it: everything once, in order, with whose it is, within the span that is asked for. */
import { expect } from 'vitest'
import type { FeedEntry } from '../../store/contract/feed.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { againIn, FAILED, nonRun, planFor, putAgain, putNew, running, SECOND, SUCCEEDED, settled } from './samples.ts'

const ALWAYS = { afterAt: 0, untilAt: 5e12 }
const told = (store: Store, page: { limit?: number; workspace?: string } = {}): Promise<FeedEntry[]> =>
  store.feed.between(ALWAYS, { limit: 100, ...page })

export const feedGroup: Group = (promise) => {
  promise(
    'tells of runs that ended, with how they ended',
    { kills: 'the feed forgets an end' },
    async ({ store, advance }) => {
      const long = { name: 'TypeError', message: 'x'.repeat(300) }
      const one = await running(store, { workspace: 'a' })
      await advance(SECOND)
      await settled(store, one, SUCCEEDED)
      await advance(SECOND)
      const schedule = await putNew(store, { workspace: 'b' })
      const ref = { id: schedule.id, key: 'sync', revision: 1 }
      const two = await running(store, { workspace: 'b', schedule: ref, trigger: 'manual' })
      await settled(store, two, { kind: 'final', state: 'failed', error: long })
      const ended = async (id: string) => (await store.history.run(id))!
      const [first, second] = [await ended(one.id), await ended(two.id)]
      const common = { kind: 'run', job: 'send-digest', attempt: 1 }
      expect(await told(store)).toEqual([
        {
          ...{ ...common, id: one.id, at: first.finishedAt, workspace: 'a', state: 'succeeded', queue: one.queue },
          ...{ schedule: null, dueAt: first.dueAt, startedAt: first.startedAt, error: null },
        },
        {
          ...{ ...common, id: two.id, at: second.finishedAt, workspace: 'b', state: 'failed', queue: two.queue },
          ...{ schedule: { id: schedule.id, key: 'sync' }, dueAt: second.dueAt, startedAt: second.startedAt },
          error: { name: 'TypeError', message: 'x'.repeat(200) },
        },
      ])
    },
  )

  promise(
    'tells of what the journal has, of changes of schedules and of occurrences that became no run',
    { kills: 'the feed forgets a kind' },
    async ({ store, advance }) => {
      const schedule = await putNew(store, { workspace: 'a' })
      const run = await running(store, { workspace: 'a' })
      await settled(store, run, againIn(0))
      await advance(SECOND)
      const nonRuns = [nonRun({ fromAt: 1, toAt: 5, count: 5 })]
      await store.planning.record([planFor(schedule, 0, { nonRuns, watermarkAt: 5 })])
      await advance(SECOND)
      const now = (await store.schedules.get('a', 'sync'))!
      await store.schedules.put([{ ...putAgain(now, { job: 'other' }), by: 'bo' }])
      expect(await told(store)).toMatchObject([
        { kind: 'journal', workspace: 'a', entry: 'retry', runId: run.id, scheduleId: null },
        { kind: 'non_run', workspace: 'a', state: 'missed', scheduleId: schedule.id, reason: 'window', count: 5 },
        {
          kind: 'revision',
          workspace: 'a',
          change: 'edited',
          scheduleId: schedule.id,
          key: 'sync',
          revision: 2,
          by: 'bo',
        },
      ])
      await store.schedules.remove('a', 'sync', 'bo')
      const [, passed] = await told(store)
      expect(passed).toMatchObject({ kind: 'non_run', workspace: '' })
    },
  )

  promise(
    'tells of alerts as they stand, and of what the audit log has',
    { kills: 'the feed forgets alerts' },
    async ({ store, advance }) => {
      const alert = { kind: 'alert', id: 'a1', workspace: 'a', data: { n: 1 } } as const
      await store.documents.put({ ...alert, state: 'open', from: 0 })
      await store.documents.put({ ...alert, kind: 'channel', state: 'open', from: 0 })
      await advance(SECOND)
      await store.documents.put({ ...alert, state: 'resolved', from: 1 })
      const at = await store.now()
      const entry = { workspace: 'b', actor: 'ana', action: 'schedule.pause', target: 'schedule b/nightly' }
      await store.auditLog.append({ ...entry, before: null, after: null, origin: null })
      expect(await told(store)).toEqual([
        { kind: 'alert', at, id: 'a1', workspace: 'a', alertId: 'a1', state: 'resolved' },
        {
          kind: 'audit',
          at: expect.any(Number),
          id: '1',
          ...entry,
          seq: 1,
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ])
    },
  )

  promise(
    'tells what lies after one instant and not after another, the first of it',
    { kills: 'the feed is told beyond its span' },
    async ({ store, advance }) => {
      const ids: string[] = []
      const begin = await store.now()
      for (let n = 0; n < 4; n += 1) {
        await advance(SECOND)
        const run = await running(store)
        await settled(store, run, n % 2 ? FAILED : SUCCEEDED)
        ids.push(run.id)
      }
      const between = async (from: number, to: number, limit = 10): Promise<string[]> =>
        (await store.feed.between({ afterAt: begin + from * SECOND, untilAt: begin + to * SECOND }, { limit })).map(
          ({ id }) => id,
        )
      expect(await between(1, 3)).toEqual(ids.slice(1, 3))
      expect(await between(0, 9, 3)).toEqual(ids.slice(0, 3))
      expect(await between(4, 9)).toEqual([])
    },
  )

  promise(
    'tells one workspace only of what is its own',
    { kills: 'the feed tells of another workspace' },
    async ({ store }) => {
      for (const workspace of ['a', 'b']) {
        const schedule = await putNew(store, { workspace })
        await store.planning.record([
          planFor(schedule, 0, { nonRuns: [nonRun({ fromAt: 1, toAt: 5, count: 5 })], watermarkAt: 5 }),
        ])
        const ref = { id: schedule.id, key: 'sync', revision: 1 }
        await settled(store, await running(store, { workspace, schedule: ref, trigger: 'manual' }), againIn(SECOND))
        await settled(store, await running(store, { workspace }), SUCCEEDED)
        await settled(store, await running(store, { workspace }), againIn(SECOND))
        await store.schedules.pause(workspace, 'sync', { reason: '', by: 'ana', until: null })
        await store.documents.put({ kind: 'alert', id: workspace, workspace, state: 'open', data: null, from: 0 })
        const entry = { workspace, actor: 'ana', action: 'x', target: 'y', before: null, after: null, origin: null }
        await store.auditLog.append(entry)
      }
      const own = await told(store, { workspace: 'b' })
      expect(own.map(({ kind, workspace }) => `${kind} ${workspace}`).sort()).toEqual(
        ['alert', 'audit', 'journal', 'journal', 'non_run', 'revision', 'run'].map((kind) => `${kind} b`),
      )
      expect(await told(store)).toHaveLength(14)
      expect(await told(store, { workspace: 'b', limit: 2 })).toHaveLength(2)
    },
  )
}
