import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { definitionOf, putOf } from '../../testing/conformance/samples.ts'
import { systemClock } from '../../time/clock.ts'
import { uuidGenerator } from '../../uuid.ts'
import { connect } from './connection.ts'
import { dueOn } from './due.ts'
import { openPostgres, type PostgresStore } from './store.ts'

/** In the order in which they are made. */
const newId = uuidGenerator(systemClock)
const PAGE = { lookaheadMs: 60_000, limit: 3 }

let database: Database
let client: pg.Client
let store: PostgresStore

beforeAll(async () => {
  database = await createReadyDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

// What is handed out depends on what was handed out before.
beforeEach(async () => {
  store = await openPostgres({ url: database.url, listen: false })
  await client.query('delete from everytick.cursors; delete from everytick.schedules')
  return () => store.close()
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

async function add(cursors: readonly { key: string; inMs: number }[]): Promise<void> {
  const now = await store.now()
  const put = ({ key, inMs }: { key: string; inMs: number }) =>
    putOf(definitionOf({ key }), { id: newId(), nextAt: now + inMs, watermarkAt: now })
  await store.schedules.put(cursors.map(put))
}

/** Alternately early and late, so that neighbours by id are none by instant. */
const crowd = (count: number): Promise<void> =>
  add(
    Array.from({ length: count }, (_, i) => {
      return { key: `s${String(i).padStart(2, '0')}`, inMs: 10_000 + (i % 2) * 10_000 + i }
    }),
  )

const keysOf = (schedules: readonly { key: string }[]): string[] => schedules.map(({ key }) => key)

/** As plans would. */
const moveOn = (keys: readonly string[]): Promise<unknown> =>
  client.query(
    `update everytick.cursors set next_at = next_at + interval '1 day'
     where schedule_id in (select id from everytick.schedules where key = any($1))`,
    [keys],
  )

async function page(): Promise<string[]> {
  const keys = keysOf((await store.planning.due(PAGE)).schedules)
  await moveOn(keys)
  return keys
}

it('hands out a crowd by neighbours, each of them once', async () => {
  await crowd(12)
  const pages = [await page(), await page(), await page(), await page(), await page()]
  expect(pages[0]).toEqual(['s00', 's02', 's04'])
  expect(pages[1]).toEqual(['s01', 's03', 's05'])
  expect(pages.flat().sort()).toEqual(Array.from({ length: 12 }, (_, i) => `s${String(i).padStart(2, '0')}`))
  expect(pages[4]).toEqual([])
})

it('lets nothing that is due soon wait for a crowd', async () => {
  await crowd(30)
  await page()
  await page()
  await add([{ key: 's99', inMs: 1000 }])
  expect(await page()).toContain('s99')
})

it('hands out nothing of a crowd that somebody else planned meanwhile, and still a full page', async () => {
  await crowd(12)
  await page()
  await page()
  await moveOn(['s06', 's07', 's08'])
  expect(await page()).toEqual(['s10', 's09', 's11'])
})

it('passes over those whose plans are being written when a crowd is looked out', async () => {
  await crowd(12)
  const first = await store.planning.due(PAGE)
  const second = await store.planning.due({ ...PAGE, except: first.schedules.map(({ id }) => id) })
  expect(keysOf(second.schedules)).toEqual(['s01', 's03', 's05'])
  const third = await store.planning.due({ ...PAGE, except: second.schedules.map(({ id }) => id) })
  expect(keysOf(third.schedules)).toEqual(['s06', 's08', 's07'])
})

it('says what is next once the crowd is over', async () => {
  await crowd(7)
  await add([{ key: 'later', inMs: 90_000 }])
  const later = (await store.schedules.get('default', 'later'))!.nextAt
  await page()
  await page()
  const last = await store.planning.due(PAGE)
  expect(keysOf(last.schedules)).toEqual(['s06'])
  expect(last.nextAt).toBe(later)
})

it('lets others look meanwhile, who ask for something else', async () => {
  await crowd(30)
  await page()
  await page()
  expect(await store.planning.due({ lookaheadMs: 0, limit: 1 })).toMatchObject({ schedules: [] })
  expect((await store.planning.due({ ...PAGE, limit: 2 })).schedules).toHaveLength(2)
  await moveOn(await page())
  expect(await store.planning.due({ lookaheadMs: 0, limit: 3 })).toMatchObject({ schedules: [] })
  const rest = await pages()
  expect(new Set(rest).size).toBe(rest.length)
  expect(rest).toHaveLength(30 - 9)
})

async function pages(): Promise<string[]> {
  const keys = await page()
  return keys.length === 0 ? [] : [...keys, ...(await pages())]
}

describe('while somebody holds an old snapshot, and cursors have moved on very often', () => {
  let elapsed = 0
  let holder: pg.Client
  let look: ReturnType<typeof dueOn>

  beforeEach(async () => {
    holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await add(Array.from({ length: 300 }, (_, i) => ({ key: `s${i}`, inMs: 100_000 + i })))
    await holder.query('begin isolation level repeatable read; select count(*) from everytick.cursors')
    for (let i = 0; i < 100; i++)
      await client.query(`update everytick.cursors set next_at = next_at + interval '100 ms'`)
    const connection = connect({
      urls: [database.url],
      max: 1,
      prepare: true,
      statementTimeoutMs: 10_000,
      name: 'test',
    })
    look = dueOn(connection, '"everytick"', { clock: { elapsed: () => elapsed } })
    return async () => {
      await holder.end()
      await connection.close()
    }
  })

  const found = async () => keysOf((await look(PAGE)).schedules)
  const enough = async () => {
    for (let i = 0; i < 5; i++) expect(await found()).toEqual([])
  }

  it('begins a look where the last one ended, and finds what came in below within two seconds', async () => {
    await enough()
    await add([{ key: 'below', inMs: 30_000 }])
    expect(await found()).toEqual([])
    elapsed += 2000
    expect(await found()).toEqual(['below'])
  })

  it('asks to be back when it is time to look from the beginning', async () => {
    await enough()
    const { now, nextAt } = await look(PAGE)
    expect(nextAt! - PAGE.lookaheadMs - now).toBeGreaterThan(0)
    expect(nextAt! - PAGE.lookaheadMs - now).toBeLessThanOrEqual(2000)
  })

  it('looks from the beginning again as soon as the snapshot is gone', async () => {
    await enough()
    await holder.query('commit')
    await client.query('vacuum everytick.cursors')
    // One of them may be slow by itself.
    for (let i = 0; i < 3; i++) {
      elapsed += 2000
      await found()
    }
    await add([{ key: 'below', inMs: 30_000 }])
    expect(await found()).toEqual(['below'])
  })
})

describe('shards of the due schedules', () => {
  const shards = [0, 1, 2].map((index) => ({ index, count: 3 }))
  /** Every due schedule of one shard, page after page, as a planner gets them. */
  async function keysOfShard(shard: { index: number; count: number }): Promise<string[]> {
    const keys: string[] = []
    for (;;) {
      const { schedules } = await store.planning.due({ ...PAGE, limit: 10, shard })
      if (schedules.length === 0) return keys
      keys.push(...keysOf(schedules))
      await moveOn(keysOf(schedules))
    }
  }

  it('are found by their own planner only, and together they are all, also where many are due', async () => {
    await crowd(90)
    const found = [await keysOfShard(shards[0]!), await keysOfShard(shards[1]!), await keysOfShard(shards[2]!)]
    expect(found.flat().length).toBe(90)
    expect(new Set(found.flat()).size).toBe(90)
    for (const keys of found) expect(keys.length).toBeGreaterThan(5)
  })

  it('are found by whoever takes them over, from the first one on', async () => {
    await crowd(30)
    await keysOfShard(shards[0]!)
    const rest = await keysOfShard({ index: 0, count: 1 })
    expect(rest.length).toBeGreaterThan(5)
    expect((await store.planning.due(PAGE)).schedules).toEqual([])
  })

  it('leave aside what is being planned', async () => {
    await crowd(20)
    const [first, ...others] = (await store.planning.due({ ...PAGE, limit: 20, shard: shards[1]! })).schedules
    const found = await store.planning.due({ ...PAGE, limit: 20, shard: shards[1]!, except: [first!.id] })
    expect(keysOf(found.schedules)).toEqual(keysOf(others))
  })
})
