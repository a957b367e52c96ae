import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newRun, wanting } from '../../testing/conformance/samples.ts'
import type { Wanted } from '../contract/claims.ts'
import type { NewRun } from '../contract/runs.ts'
import { type Connection, connect } from './connection.ts'
import { prepareSchema } from './schema.ts'
import { type SqliteStore, storeOn } from './store.ts'

interface Opened {
  readonly store: SqliteStore
  readonly connection: Connection
  readonly clock: { at: number; now(): number; elapsed(): number }
}

async function open(packFrom?: number): Promise<Opened> {
  const clock = { at: 1_000_000, now: () => clock.at, elapsed: () => clock.at }
  const connection = await connect({ path: ':memory:', busyTimeoutMs: 1 })
  await prepareSchema(connection, { name: 'test', migrate: true, clock })
  return { store: storeOn(connection, { path: ':memory:', clock, packFrom }), connection, clock }
}

const listOf = (count: number, change: Partial<NewRun> = {}): NewRun[] => {
  const run = newRun(change)
  return Array.from({ length: count }, (_, i) => newRun({ ...change, policy: run.policy, payload: { i } }))
}
const claim = (store: SqliteStore, wanted: Partial<Wanted>) =>
  store.claims.claim(wanting({ wanted: [{ queue: 'default', limit: 100, ...wanted }] }))

describe('a long list', () => {
  let { store, connection, clock }: Opened = {} as Opened
  beforeEach(async () => {
    ;({ store, connection, clock } = await open())
  })
  afterEach(() => store.close())

  const packs = (): number => connection.all('select 1 from everytick_packs').length
  const rows = (): number => connection.all('select 1 from everytick_runs').length

  it('waits in packs, and is claimed as it came, with its payloads', async () => {
    const list = listOf(1000)
    await store.runs.enqueue(list)
    expect([packs(), rows()]).toEqual([4, 0])
    const got = []
    for (let claims = 0; claims < 10; claims += 1) got.push(...(await claim(store, {})).runs)
    expect(got.map(({ id, payload }) => ({ id, payload }))).toEqual(list.map(({ id, payload }) => ({ id, payload })))
    expect([packs(), rows()]).toEqual([0, 1000])
  })

  it('is unpacked by a claim only as far as the claim comes', async () => {
    await store.runs.enqueue(listOf(3000))
    await claim(store, { limit: 100 })
    expect([packs(), rows()]).toEqual([9, 300])
    await claim(store, { limit: 200 })
    expect([packs(), rows()]).toEqual([9, 300])
    await claim(store, { limit: 1 })
    expect([packs(), rows()]).toEqual([8, 600])
  })

  it('is granted by whole packs where all of them is wanted, and never more than is wanted', async () => {
    const list = listOf(1000)
    await store.runs.enqueue(list)
    await store.runs.enqueue(listOf(10, { priority: 9, idempotencyKey: 'k' }))
    const pending = (): number => connection.all(`select 1 from everytick_runs where state = 'pending'`).length
    const { runs } = await claim(store, { limit: 301 })
    expect(runs.map(({ id }) => id).slice(1)).toEqual(list.slice(0, 300).map(({ id }) => id))
    expect([packs(), pending()]).toEqual([3, 0])
    expect((await claim(store, { limit: 650 })).runs.map(({ id }) => id)).toEqual(
      list.slice(300, 950).map(({ id }) => id),
    )
    expect([packs(), pending()]).toEqual([0, 50])
    expect(await store.history.run(list[0]!.id)).toEqual(runs[1])
  })

  it('is packed by its ids alone when all have the same payload', async () => {
    const list = Array.from({ length: 200 }, () => newRun({ payload: 'thé "vert"' }))
    await store.runs.enqueue(list)
    const [pack] = connection.all<{ runs: string }>('select runs from everytick_packs')
    expect(JSON.parse(pack!.runs)).toEqual(list.map(({ id }) => id))
    const { runs } = await claim(store, { limit: 200 })
    expect(runs.map(({ id, payload }) => [id, payload])).toEqual(list.map(({ id }) => [id, 'thé "vert"']))
  })

  it.each([
    ['of its own', listOf(700)],
    ['in common', Array.from({ length: 700 }, () => newRun())],
  ])('with payloads %s shows each of its runs, and lets it be cancelled, as it lies there', async (_, list) => {
    await store.runs.enqueue(list)
    const { id, payload } = list[450]!
    expect(await store.history.run(id)).toMatchObject({ id, state: 'pending', payload, attempt: 0 })
    expect(await store.runs.cancel(id, 'ana')).toBe('cancelled')
    expect(await store.history.run(id)).toMatchObject({ id, state: 'cancelled', payload })
    expect([packs(), rows()]).toEqual([3, 0])
    expect(await store.history.run('nobody')).toBeNull()
    expect(await store.runs.cancel('nobody', 'ana')).toBe('not_found')
    const left = (await claim(store, { limit: 1000 })).runs.map((run) => run.id)
    expect(left).toEqual(list.map((run) => run.id).filter((other) => other !== id))
  })

  it('leaves no pack behind when all of its runs were cancelled', async () => {
    const list = listOf(60)
    await store.runs.enqueue(list)
    for (const { id } of list) expect(await store.runs.cancel(id, 'ana')).toBe('cancelled')
    expect([packs(), rows()]).toEqual([0, 0])
  })

  it('is listed run by run, and counted in its packs', async () => {
    await store.runs.enqueue(listOf(500, { workspace: 'a' }))
    expect(await store.stats.sizes()).toMatchObject({ liveRuns: 500, estimated: false })
    expect((await store.stats.sizes('b')).liveRuns).toBe(0)
    expect(await store.queues.list()).toMatchObject([{ name: 'default', ready: 500, oldestDueAt: 1_000_000 }])
    expect(packs()).toBe(2)
    expect((await store.history.find({ workspace: 'a' }, { limit: 1000 })).runs).toHaveLength(500)
    expect([packs(), rows()]).toEqual([0, 500])
  })

  it('is not made again under the same ids', async () => {
    const list = listOf(400)
    await store.runs.enqueue(list)
    const again = await store.runs.enqueue([...list.slice(100, 300), ...listOf(1)])
    expect(again.map(({ created }) => created)).toEqual([...Array(200).fill(false), true])
    expect((await store.stats.sizes()).liveRuns).toBe(401)
  })

  it.each([
    ['has keys', { idempotencyKey: 'k' }],
    ['is still to come', { due: { delayMs: 1 } }],
    ['goes through a lane', { lane: 'l', overlap: 'queue' as const }],
    ['belongs to a schedule', { schedule: { id: 's', key: 's', revision: 1 } }],
  ])('is not packed when it %s', async (_, change) => {
    await store.runs.enqueue(listOf(100, change))
    expect(packs()).toBe(0)
  })

  it('is not packed when others of another kind stand among it, whose order counts', async () => {
    const list = [...listOf(100), ...listOf(1, { idempotencyKey: 'k' }), ...listOf(100)]
    await store.runs.enqueue(list)
    expect(packs()).toBe(0)
    const { runs } = await claim(store, { limit: 201 })
    expect(runs.map(({ id }) => id)).toEqual(list.map(({ id }) => id))
  })

  it('comes out of its packs where workspaces are limited, and is not packed there again', async () => {
    await store.runs.enqueue(listOf(2000))
    await store.runs.enqueue(listOf(300, { queue: 'other' }))
    await store.queues.configure([{ name: 'default', limits: { perWorkspace: 3 } }])
    expect([packs(), rows()]).toEqual([1, 2000])
    await store.runs.enqueue(listOf(100))
    expect([packs(), rows()]).toEqual([1, 2100])
    expect((await claim(store, {})).runs).toHaveLength(3)
  })

  it('is not claimed before it is due when the clock was set back', async () => {
    await store.runs.enqueue(listOf(300))
    clock.at -= 5
    expect(await claim(store, { limit: 300 })).toMatchObject({ runs: [], nextDueAt: 1_000_000 })
    await store.runs.enqueue(listOf(100, { priority: 1 }))
    expect((await claim(store, { limit: 300 })).runs).toHaveLength(100)
    clock.at += 5
    expect((await claim(store, { limit: 300 })).runs).toHaveLength(300)
  })

  it('is listed though others are enqueued all the time', async () => {
    await store.runs.enqueue(listOf(1000))
    let isListed = false
    const listed = store.history.find({}, { limit: 10 }).then(() => (isListed = true))
    for (let lists = 0; !isListed && lists < 50; lists += 1) await store.runs.enqueue(listOf(1000))
    expect(isListed).toBe(true)
    await listed
  })

  it('is left packed by lists that cannot have it', async () => {
    await store.runs.enqueue(listOf(300))
    for (const filter of [{ scheduleId: 's' }, { states: ['failed' as const] }, { queue: 'other' }]) {
      await store.history.find(filter, { limit: 10 })
    }
    expect(packs()).toBe(1)
  })

  it('is shared among workspaces by no more rows than they are given', async () => {
    for (let workspace = 0; workspace < 20; workspace += 1) {
      await store.runs.enqueue(listOf(900, { workspace: `w${workspace}` }))
    }
    const { runs } = await claim(store, { limit: 1000, fair: true })
    expect(new Set(runs.map(({ workspace }) => workspace)).size).toBe(20)
    expect(runs).toHaveLength(1000)
    expect(rows()).toBeLessThanOrEqual(1000 + 20 * 300)
  })

  it('waits in a paused queue as it came', async () => {
    await store.queues.pause('default', { reason: '', by: 'ana' })
    await store.runs.enqueue(listOf(300))
    expect((await claim(store, {})).runs).toEqual([])
    expect(packs()).toBe(1)
    await store.queues.resume('default')
    expect((await claim(store, {})).runs).toHaveLength(100)
  })
})

describe('packs', () => {
  const queue = fc.constantFrom('default', 'other')
  const list = fc.record({
    kind: fc.constant('list' as const),
    count: fc.integer({ min: 1, max: 700 }),
    queue,
    workspace: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    priority: fc.constantFrom(4, 5, 6),
    delayMs: fc.constantFrom(0, 0, 0, 2),
  })
  const take = fc.record({
    kind: fc.constant('claim' as const),
    limits: fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 400 })),
    fair: fc.boolean(),
  })
  const one = fc.record({ kind: fc.constantFrom('run' as const, 'cancel' as const), nth: fc.nat() })
  const look = fc.record({ kind: fc.constantFrom('queues' as const, 'sizes' as const, 'find' as const) })
  const acts = fc.array(fc.oneof({ weight: 3, arbitrary: list }, { weight: 4, arbitrary: take }, one, look), {
    minLength: 3,
    maxLength: 14,
  })

  it('make no difference to what anybody is given, in whatever order it comes', async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (all) => {
        const [plain, packing] = [await open(Number.POSITIVE_INFINITY), await open(1)]
        const both = [plain, packing]
        const same = async <T>(ask: (store: SqliteStore) => Promise<T>): Promise<T> => {
          const [expected, answer] = [await ask(plain.store), await ask(packing.store)]
          expect(answer).toEqual(expected)
          return answer
        }
        const ids: string[] = []
        const turns: Record<string, string> = {}
        for (const act of all) {
          // Among those that are as late, runs of different calls have no order.
          for (const { clock } of both) clock.at += 1
          if (act.kind === 'list') {
            const { count, delayMs, ...change } = act
            const runs = listOf(count, { ...change, due: { delayMs } } as Partial<NewRun>)
            ids.push(...runs.map(({ id }) => id))
            await same((store) => store.runs.enqueue(runs))
          } else if (act.kind === 'claim') {
            const wanted = ['default', 'other'].map((name, i) => {
              const turn = turns[name]
              return { queue: name, limit: act.limits[i]!, fair: act.fair, ...(turn === undefined ? {} : { turn }) }
            })
            const claimed = await same((store) => store.claims.claim(wanting({ wanted })))
            Object.assign(turns, claimed.turns)
          } else if ('nth' in act) {
            const id = ids[act.nth % Math.max(1, ids.length)] ?? 'nobody'
            await same<unknown>(({ runs, history }) => (act.kind === 'run' ? history.run(id) : runs.cancel(id, 'ana')))
          } else if (act.kind === 'queues') await same((store) => store.queues.list())
          else if (act.kind === 'sizes') await same((store) => store.stats.sizes('a'))
          else await same((store) => store.history.find({ workspace: 'b' }, { limit: 50 }))
        }
        for (const { store } of both) await store.close()
      }),
      { numRuns: 100 },
    )
  }, 60_000)
})
