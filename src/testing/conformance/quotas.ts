/** What quotas count: everything of one workspace, nothing of another, and never beyond the limit that the caller names. */
import { expect } from 'vitest'
import { newBackfill } from './backfills.ts'
import type { Group } from './harness.ts'
import { claimed, MINUTE, newRun, putNew, SUCCEEDED, settled } from './samples.ts'

const NONE = { kept: 0, made: 0, succeeded: 0, failed: 0, cancelled: 0, open: [] }

export const quotasGroup: Group = (promise) => {
  promise(
    'counts the schedules of a workspace, as far as is asked',
    { kills: 'a quota counts the schedules of another workspace' },
    async ({ store }) => {
      for (const key of ['a', 'b', 'c']) await putNew(store, { workspace: 'acme', key })
      await putNew(store, { workspace: 'other', key: 'a' })
      expect(await store.quotas.count('acme', 'schedules', { upTo: 10 })).toBe(3)
      expect(await store.quotas.count('acme', 'schedules', { upTo: 2 })).toBe(2)
      expect(await store.quotas.count('nobody', 'schedules', { upTo: 10 })).toBe(0)
      await store.schedules.remove('acme', 'b', 'ana')
      expect(await store.quotas.count('acme', 'schedules', { upTo: 10 })).toBe(2)
    },
  )

  promise(
    'counts the runs of a workspace until they have ended, whether they wait or run',
    { kills: 'a quota forgets the runs that are running' },
    async ({ store }) => {
      const runs = [1, 2, 3].map(() => newRun({ workspace: 'acme' }))
      await store.runs.enqueue([...runs, newRun({ workspace: 'other' })])
      expect(await store.quotas.count('acme', 'pendingRuns', { upTo: 10 })).toBe(3)
      expect(await store.quotas.count('acme', 'pendingRuns', { upTo: 2 })).toBe(2)
      const leased = await claimed(store)
      expect(await store.quotas.count('acme', 'pendingRuns', { upTo: 10 })).toBe(3)
      await settled(store, leased.find(({ workspace }) => workspace === 'acme')!, SUCCEEDED)
      expect(await store.quotas.count('acme', 'pendingRuns', { upTo: 10 })).toBe(2)
      expect(await store.quotas.count('other', 'pendingRuns', { upTo: 10 })).toBe(1)
    },
  )

  promise(
    'counts the runs that a running backfill may still add, once',
    { kills: 'a backfill has places that no quota counts' },
    async ({ store }) => {
      const schedule = await putNew(store, { workspace: 'acme' })
      const wide = newBackfill(schedule, { concurrency: 8, total: 11 })
      await store.backfills.create(wide)
      await store.backfills.create(newBackfill(await putNew(store, { workspace: 'other' }), { concurrency: 5 }))
      expect(await store.quotas.count('acme', 'pendingRuns', { upTo: 100 })).toBe(8)
      expect(await store.quotas.count('acme', 'pendingRuns', { upTo: 6 })).toBe(6)
      const { version } = (await store.backfills.get(wide.id))!
      const slot = { scheduledAt: 60 * MINUTE, slotStartAt: 59 * MINUTE }
      const ref = { id: schedule.id, key: schedule.key, revision: schedule.revision }
      const run = newRun({ workspace: 'acme', trigger: 'backfill', schedule: ref, slot })
      const progress = { ...NONE, doneUntilAt: 60 * MINUTE, made: 1, open: [run.id], state: 'running' } as const
      expect(await store.backfills.advance(wide.id, version, { progress, runs: [run] })).toBe(true)
      expect(await store.quotas.count('acme', 'pendingRuns', { upTo: 100 })).toBe(8)
      const late = { ...progress, made: 2, kept: 7 }
      expect(await store.backfills.advance(wide.id, version + 1, { progress: late, runs: [] })).toBe(true)
      expect(await store.quotas.count('acme', 'pendingRuns', { upTo: 100 })).toBe(3)
      await store.backfills.cancel(wide.id)
      expect(await store.quotas.count('acme', 'pendingRuns', { upTo: 100 })).toBe(1)
    },
  )

  promise(
    'counts the channels and the rules of a workspace',
    { kills: 'a quota counts documents of another kind' },
    async ({ store }) => {
      const put = (kind: 'channel' | 'alert_rule', id: string, workspace: string) =>
        store.documents.put({ kind, id, workspace, state: '', data: {}, from: 0 })
      await put('channel', 'c1', 'acme')
      await put('channel', 'c2', 'acme')
      await put('channel', 'c3', 'other')
      await put('alert_rule', 'r1', 'acme')
      expect(await store.quotas.count('acme', 'channels', { upTo: 10 })).toBe(2)
      expect(await store.quotas.count('acme', 'channels', { upTo: 1 })).toBe(1)
      expect(await store.quotas.count('acme', 'rules', { upTo: 10 })).toBe(1)
      expect(await store.quotas.count('other', 'rules', { upTo: 10 })).toBe(0)
    },
  )

  promise(
    'names each queue and each tag of a workspace once, whatever has it',
    { kills: 'a quota does not see the queues of runs' },
    async ({ store }) => {
      for (const [key, tags] of Object.entries({ a: ['x', 'y'], b: ['y'], c: [] }))
        await putNew(store, { workspace: 'acme', key, queue: 'mail', tags })
      await putNew(store, { workspace: 'other', queue: 'theirs', tags: ['z'] })
      await store.runs.enqueue(['mail', 'sms', 'sms', 'fax'].map((queue) => newRun({ workspace: 'acme', queue })))
      expect(await store.quotas.names('acme', 'queues', { upTo: 10 })).toEqual(['fax', 'mail', 'sms'])
      expect(await store.quotas.names('acme', 'queues', { upTo: 2 })).toEqual(['fax', 'mail'])
      expect(await store.quotas.names('acme', 'tags', { upTo: 10 })).toEqual(['x', 'y'])
      expect(await store.quotas.names('acme', 'tags', { upTo: 1 })).toEqual(['x'])
      expect(await store.quotas.names('nobody', 'tags', { upTo: 10 })).toEqual([])
      expect(await store.quotas.names('nobody', 'queues', { upTo: 10 })).toEqual([])
    },
  )
}
