/** Pages that end by their bytes: never empty while there is more, never larger than they may be but for one item, and everything once. */
import { expect } from 'vitest'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { claimed, enqueued, MINUTE, newId, putAgain, putNew, SUCCEEDED, settled } from './samples.ts'

/** Compresses well, so that a size on disk says little. */
const LARGE = 'x'.repeat(30_000)
/** Three large ones fit. */
const maxBytes = 100_000
const MANY = 8

interface Walked<Item> {
  readonly sizes: readonly number[]
  readonly items: readonly Item[]
}

/** Page after page; `read` answers where the next begins. */
async function walked<Item, Next>(
  read: (after: Next | null) => Promise<{ readonly items: readonly Item[]; readonly next: Next | null }>,
): Promise<Walked<Item>> {
  const sizes: number[] = []
  const all: Item[] = []
  for (let after: Next | null = null; ; ) {
    const { items, next } = await read(after)
    sizes.push(items.length)
    all.push(...items)
    if (next === null) return { sizes, items: all }
    expect(items.length).toBeGreaterThan(0)
    after = next
  }
}

const runsOf = (store: Store, page: object, filter = {}) =>
  walked(async (after: { readonly id: string } | null) => {
    const { runs, next } = await store.history.find(filter, { limit: 100, ...page, ...(after ? { after } : {}) })
    return { items: runs, next }
  })

export const boundedPagesGroup: Group = (promise) => {
  promise(
    'ends a page of runs, live and finished, by its bytes',
    { kills: 'a page of runs is as large as its payloads' },
    async ({ store }) => {
      const ids = []
      for (let i = 0; i < MANY; i++) ids.push(await enqueued(store, { payload: { account: LARGE, i } }))
      const result = { sent: LARGE }
      for (const run of (await claimed(store, { wanted: [{ queue: 'default', limit: 3 }] })).slice(0, 3))
        expect(await settled(store, run, { ...SUCCEEDED, result } as never)).toBe('accepted')
      const whole = await runsOf(store, { maxBytes })
      expect(Math.max(...whole.sizes)).toBeLessThanOrEqual(3)
      expect(whole.items.map(({ id }) => id).sort()).toEqual(ids.sort())
      expect(whole.items.map(({ id }) => id)).toEqual(
        (await store.history.runs({}, { limit: 100 })).map(({ id }) => id),
      )
      const [first] = whole.items
      expect(whole.items).toContainEqual(await store.history.run(first!.id))
      // With a filter that is looked for row by row, it is the same.
      const some = await runsOf(store, { maxBytes }, { job: 'send-digest', states: ['pending'] })
      expect([Math.max(...some.sizes), some.items.length]).toEqual([3, MANY - 3])
    },
  )

  promise(
    'leaves out of runs what is not to be read, and counts only what is',
    { kills: 'what a page leaves out is read' },
    async ({ store }) => {
      for (let i = 0; i < MANY; i++) await enqueued(store, { payload: LARGE })
      const [run] = await claimed(store, { wanted: [{ queue: 'default', limit: 1 }] })
      expect(await settled(store, run!, { ...SUCCEEDED, result: LARGE } as never)).toBe('accepted')
      const { sizes, items } = await runsOf(store, { maxBytes, omit: ['payload', 'result'] })
      expect(sizes).toEqual([MANY])
      for (const { payload, result } of items) expect([payload, result]).toEqual([null, null])
      const ofResult = await runsOf(store, { maxBytes, omit: ['payload'] })
      expect(ofResult.items.flatMap(({ payload, result }) => [payload, result]).filter(Boolean)).toEqual([LARGE])
    },
  )

  promise(
    'has one run on a page, however large it is',
    { kills: 'a run that is too large for a page is never listed' },
    async ({ store }) => {
      for (let i = 0; i < 3; i++) await enqueued(store, { payload: LARGE })
      expect((await runsOf(store, { maxBytes: 1 })).sizes).toEqual([1, 1, 1])
    },
  )

  promise(
    'ends a page of schedules by its bytes, with their payloads or without',
    { kills: 'a page of schedules is as large as its payloads' },
    async ({ store }) => {
      for (let i = 0; i < MANY; i++) await putNew(store, { key: `s-${i}`, job: 'digest', payload: LARGE, tags: ['t'] })
      const find = (filter: object, page: object) =>
        walked(async (after: { readonly workspace: string; readonly key: string } | null) => {
          const found = await store.schedules.find(filter, {
            limit: 100,
            maxBytes,
            ...page,
            ...(after ? { after } : {}),
          })
          return { items: found.schedules, next: found.next }
        })
      for (const filter of [{}, { tag: 't' }, { job: 'digest' }, { text: 's-' }]) {
        const whole = await find(filter, {})
        expect(Math.max(...whole.sizes)).toBe(3)
        expect(whole.items).toEqual(await store.schedules.list({ limit: 100 }))
        const without = await find(filter, { omitPayload: true })
        expect(without.sizes).toEqual([MANY])
        expect(without.items).toEqual(whole.items.map((each) => ({ ...each, payload: null })))
      }
    },
  )

  promise(
    'ends a page of revisions by its bytes, and reads what a schedule was without payloads',
    { kills: 'a page of revisions is as large as its payloads' },
    async ({ store }) => {
      let schedule = await putNew(store)
      for (let i = 0; i < MANY; i++) {
        await store.schedules.put([putAgain(schedule, { payload: { i, account: LARGE } })])
        schedule = (await store.schedules.byId(schedule.id))!
      }
      const all = await store.history.revisions(schedule.id)
      const { sizes, items } = await walked(async (after: number | null) => {
        const page = { limit: 100, maxBytes, ...(after === null ? {} : { after }) }
        const { revisions, next } = await store.history.revisionPage(schedule.id, page)
        return { items: revisions, next }
      })
      // Each has its payload twice: before and after.
      expect(Math.max(...sizes)).toBeLessThanOrEqual(2)
      expect(items).toEqual(all)
      const without = (definition: unknown) => {
        const { payload: _, ...rest } = definition as { payload: unknown }
        return rest
      }
      expect(await store.history.definitions(schedule.id)).toEqual(
        all.map((each) => ({ ...each, before: without(each.before), after: without(each.after) })),
      )
      expect(await store.history.revisionPage(newId(), { limit: 1, maxBytes })).toEqual({ revisions: [], next: null })
    },
  )

  promise(
    'ends a page of the journal of a run by its bytes',
    { kills: 'a page of the journal is as large as what came too late' },
    async ({ store }) => {
      await enqueued(store)
      const [run] = await claimed(store, { wanted: [{ queue: 'default', limit: 1 }] })
      expect(await settled(store, run!, SUCCEEDED)).toBe('accepted')
      for (let i = 0; i < MANY; i++)
        expect(await settled(store, run!, { ...SUCCEEDED, result: { i, sent: LARGE } } as never)).toBe('refused')
      const { sizes, items } = await walked(async (after: number | null) => {
        const page = { limit: 100, maxBytes, ...(after === null ? {} : { after }) }
        const { entries, next } = await store.history.journalPage(run!.id, page)
        return { items: entries, next }
      })
      expect(Math.max(...sizes)).toBe(3)
      expect(items).toEqual(await store.history.journal({ runId: run!.id }))
      const kinds = items.map(({ at, kind }) => ({ at, kind }))
      expect(await store.history.journalKinds(run!.id)).toEqual(kinds)
    },
  )

  promise(
    'ends a page of log lines by its bytes',
    { kills: 'a page of lines is as large as their data' },
    async ({ store }) => {
      const runId = newId()
      const line = { runId, attempt: 1, at: MINUTE, level: 'info', message: 'm', data: { said: LARGE } } as const
      await store.logs.append(Array.from({ length: MANY }, () => line))
      const seen: number[] = []
      for (let after = 0; ; ) {
        const lines = await store.logs.read(runId, { limit: 100, maxBytes, after })
        expect(lines.length).toBeLessThanOrEqual(3)
        if (lines.length === 0) break
        seen.push(...lines.map(({ seq }) => seq))
        after = seen.at(-1)!
      }
      expect(seen).toEqual((await store.logs.read(runId, { limit: 100 })).map(({ seq }) => seq))
      expect(await store.logs.read(runId, { limit: 100, maxBytes: 1 })).toHaveLength(1)
    },
  )

  promise(
    'ends a page of the audit log by its bytes, of one workspace or all',
    { kills: 'a page of the audit log is as large as its payloads' },
    async ({ store }) => {
      const entry = { actor: 'x', action: 'x', target: 'x', before: LARGE, after: null, origin: null }
      for (let i = 0; i < MANY; i++) await store.auditLog.append({ ...entry, workspace: i % 2 === 0 ? 'a' : 'b' })
      for (const filter of [{}, { workspace: 'a' }]) {
        const { sizes, items } = await walked(async (before: number | null) => {
          const page = { ...filter, limit: 100, maxBytes, ...(before === null ? {} : { before }) }
          const { entries, hasMore } = await store.auditLog.page(page)
          return { items: entries, next: hasMore ? entries.at(-1)!.seq : null }
        })
        expect(Math.max(...sizes)).toBe(3)
        expect(items).toEqual(await store.auditLog.list({ ...filter, limit: 100 }))
      }
      expect(await store.auditLog.page({ limit: 2, maxBytes })).toMatchObject({ entries: [{}, {}], hasMore: true })
      expect(await store.auditLog.page({ workspace: 'none', limit: 2, maxBytes })).toEqual({
        entries: [],
        hasMore: false,
      })
    },
  )
}
