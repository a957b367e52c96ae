/** Schedules as rows: putting the same twice changes nothing, every change is seen, and pages miss nobody. What a change retracts is `schedule-edits.ts`. */
import { expect } from 'vitest'
import type { ScheduleDefinition } from '../../schedule/schedule.ts'
import type { Group } from './harness.ts'
import { DAY, definitionOf, HOUR, MINUTE, newId, putAgain, putNew, putOf } from './samples.ts'

/** One change to each part of a definition. */
const CHANGES: { readonly [K in Exclude<keyof ScheduleDefinition, 'workspace' | 'key'>]: ScheduleDefinition[K] } = {
  timing: { kind: 'cron', cron: '30 2 * * *', timezone: 'Europe/Berlin', dst: { gap: 'skip', fold: 'both' } },
  job: 'sync-erp',
  queue: 'slow',
  payload: { account: 8 },
  priority: 9,
  policy: { retry: { attempts: 1, backoff: 'fixed', baseMs: 5, maxMs: 5 }, timeoutMs: 9 },
  catchUp: { catchUp: 'all', windowMs: HOUR, limit: 5 },
  firing: { overlap: 'queue_one', jitter: { max: { share: 0.1 }, per: 'schedule' }, maxRuns: 7, concurrencyKey: 'crm' },
  description: 'another sentence',
  tags: ['crm', 'new'],
  metadata: null,
  source: 'api',
}

export const schedulesGroup: Group = (promise) => {
  promise('keeps a definition as it was given', { kills: 'a column is not written' }, async ({ store }) => {
    const now = await store.now()
    const id = newId()
    const definition = definitionOf({ ...CHANGES, workspace: 't_42', metadata: { a: [1, null] } })
    const put = await store.schedules.put([putOf(definition, { id, nextAt: now + HOUR, watermarkAt: now, by: 'bo' })])
    expect(put).toEqual([{ id, created: true, changed: true, differs: false, revision: 1, nextAt: now + HOUR }])
    const schedule = (await store.schedules.get('t_42', 'sync'))!
    const rest = { revision: 1, pause: null, quarantine: null, nextAt: now + HOUR, watermarkAt: now }
    const who = { createdBy: 'bo', updatedBy: 'bo', sinceAt: now, runCount: 0 }
    const { createdAt, updatedAt } = schedule
    expect(schedule).toEqual({ id, ...definition, ...rest, ...who, createdAt, updatedAt })
    expect(updatedAt).toBe(createdAt)
    expect(createdAt).toBeGreaterThanOrEqual(now)
  })

  promise(
    'keeps each kind of timing, and a schedule that has no next occurrence',
    { kills: 'a timing is kept in part' },
    async ({ store }) => {
      const timings = [
        { kind: 'cron', cron: '0 9 * * 1-5', timezone: 'America/New_York' },
        { kind: 'interval', everyMs: 5000, anchorAt: -1 },
        { kind: 'once', at: 1_900_000_000_123, startAt: 5, endAt: 6 },
        {
          kind: 'any',
          of: [
            { kind: 'once', at: 5 },
            { kind: 'interval', everyMs: 5000, anchorAt: 0 },
          ],
        },
      ] as const
      for (const timing of timings) {
        const schedule = await putNew(store, { key: timing.kind, timing }, { nextAt: null })
        expect(schedule).toMatchObject({ timing, nextAt: null })
      }
    },
  )

  promise(
    'changes nothing when the same definition is put again',
    { kills: 'every put counts as a change' },
    async ({ store, advance }) => {
      const schedule = await putNew(store)
      await advance(MINUTE / 2)
      const now = await store.now()
      // A caller computes the cursor again each time; only a change of timing may use it.
      const again = { ...putAgain(schedule, {}), nextAt: now + DAY, watermarkAt: now }
      const same = { created: false, changed: false, differs: false, revision: 1 }
      const answer = { id: schedule.id, ...same, nextAt: schedule.nextAt }
      expect(await store.schedules.put([again])).toEqual([answer])
      expect(await store.schedules.get('default', 'sync')).toEqual(schedule)
    },
  )

  promise(
    'takes values with their keys in another order for the same',
    { kills: 'definitions are compared as text' },
    async ({ store }) => {
      const first = await putNew(store, {
        payload: { a: 1, b: { c: 2, d: 3 } },
        metadata: { x: [{ y: 1, z: 2 }], w: 0 },
      })
      const other = { payload: { b: { d: 3, c: 2 }, a: 1 }, metadata: { w: 0, x: [{ z: 2, y: 1 }] } }
      expect(await store.schedules.put([putAgain(first, other)])).toMatchObject([{ changed: false }])
    },
  )

  for (const [part, value] of Object.entries(CHANGES)) {
    promise(
      `sees a change of ${part}, and raises the revision by one`,
      { kills: `a change of ${part} is overlooked` },
      async ({ store, advance }) => {
        const schedule = await putNew(store)
        await advance(SHORT)
        const [answer] = await store.schedules.put([putAgain(schedule, { [part]: value })])
        expect(answer).toMatchObject({ id: schedule.id, created: false, changed: true, revision: 2 })
        const changed = (await store.schedules.get('default', 'sync'))!
        const { updatedAt, watermarkAt, ...rest } = schedule
        expect(changed).toMatchObject({ ...rest, revision: 2, [part]: value })
        expect(changed.updatedAt).toBeGreaterThanOrEqual(updatedAt + SHORT)
        expect(changed.nextAt).toBe(answer!.nextAt)
      },
    )
  }

  promise(
    'answers in the order of the input, whatever is new, changed or the same',
    { kills: 'answers come in the order of the database' },
    async ({ store }) => {
      const [b, a] = [await putNew(store, { key: 'b' }), await putNew(store, { key: 'a' })]
      const fresh = putOf(definitionOf({ key: 'A-new' }))
      const answers = await store.schedules.put([putAgain(b, { job: 'other' }), fresh, putAgain(a, {})])
      expect(answers).toMatchObject([
        { id: b.id, created: false, changed: true, revision: 2 },
        { id: fresh.id, created: true, changed: true, revision: 1 },
        { id: a.id, created: false, changed: false, revision: 1 },
      ])
      expect(await store.schedules.put([])).toEqual([])
    },
  )

  promise(
    'refuses one key twice in one call, and writes nothing of it',
    { kills: 'the last of two definitions wins silently' },
    async ({ store }) => {
      const puts = ['one', 'two'].map((job) => putOf(definitionOf({ job })))
      await expect(store.schedules.put(puts)).rejects.toMatchObject({ code: 'DUPLICATE_KEY' })
      expect(await store.schedules.list({ limit: 10 })).toEqual([])
    },
  )

  promise(
    'holds the same key apart in different workspaces',
    { kills: 'the workspace is not part of the key' },
    async ({ store }) => {
      const [ours, theirs] = [await putNew(store), await putNew(store, { workspace: 't_42', job: 'other' })]
      expect(ours.id).not.toBe(theirs.id)
      expect(await store.schedules.get('default', 'sync')).toEqual(ours)
      expect(await store.schedules.get('t_42', 'sync')).toEqual(theirs)
      expect(await store.schedules.get('t_43', 'sync')).toBeNull()
    },
  )

  promise(
    'lists by workspace and key in pages that neither repeat nor lose one',
    { kills: 'a page begins at the wrong place' },
    async ({ store }) => {
      const names = ['a/x', 'a/y', 'b/w', 'b/x', 'b/z', 'c/a'].map((name) => name.split('/') as [string, string])
      for (const [workspace, key] of names.toReversed()) await putNew(store, { workspace, key })
      const seen: [string, string][] = []
      for (let after: { workspace: string; key: string } | undefined; ; ) {
        const page = await store.schedules.list({ limit: 4, ...(after ? { after } : {}) })
        seen.push(...page.map(({ workspace, key }) => [workspace, key] as [string, string]))
        if (page.length < 4) break
        after = page.at(-1)!
      }
      expect(seen).toEqual(names)
      const other = await putNew(store, { workspace: 'b', key: 'y', source: 'api' })
      expect(await store.schedules.list({ source: 'api', limit: 10 })).toEqual([other])
      const ofB = await store.schedules.list({ workspace: 'b', limit: 10, after: { workspace: 'b', key: 'w' } })
      expect(ofB.map(({ key }) => key)).toEqual(['x', 'y', 'z'])
    },
  )
}

const SHORT = MINUTE / 2
