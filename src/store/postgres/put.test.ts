import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { definitionOf, newId, putOf } from '../../testing/conformance/samples.ts'
import type { PutSchedule } from '../contract/schedules.ts'
import type { Pool } from './client.ts'
import { openPostgres, type PostgresStore } from './store.ts'

let database: Database
let pool: pg.Pool
let store: PostgresStore
/** The statements of the store, each by its first word, without those that begin with select. */
const said: string[] = []

beforeAll(async () => {
  database = await createReadyDatabase()
  pool = new pg.Pool({ connectionString: database.url })
  store = await openPostgres({ pool: listening(pool), listen: false })
})

afterAll(async () => {
  await store.close()
  await pool.end()
  await database.drop()
})

beforeEach(() => {
  said.length = 0
})

const listening = (own: pg.Pool): Pool => ({
  async connect() {
    const client = await own.connect()
    return {
      async query(config) {
        const word = /\w+/.exec(config.text)![0]
        // Puts do not begin with select; what the store asks of every new connection does.
        if (word !== 'select') said.push(word)
        return client.query(config as pg.QueryConfig)
      },
      on: () => {},
      release: (broken) => client.release(broken),
    }
  },
})

const puts = (count: number, change: Parameters<typeof definitionOf>[0] = {}): PutSchedule[] =>
  Array.from({ length: count }, () => putOf(definitionOf({ ...change, key: newId() })))
const again = (list: readonly PutSchedule[]): PutSchedule[] => list.map((put) => ({ ...put, id: newId() }))
const stored = async ({ definition: { workspace, key } }: PutSchedule) => store.schedules.get(workspace, key)
const WAITED_FOR = 'select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid)) limit 1'

/** Another creates it, and is done when somebody waits for that. */
async function meanwhile<T>(put: PutSchedule, work: () => Promise<T>): Promise<T> {
  const other = await pool.connect()
  try {
    await other.query('begin')
    await store.schedules.put([put], other)
    const answer = work()
    // Within a transaction the server goes on answering what it saw first, unless it is told to look again.
    while ((await other.query(WAITED_FOR)).rows.length === 0) await other.query('select pg_stat_clear_snapshot()')
    await other.query('commit')
    return await answer
  } finally {
    other.release()
  }
}

describe('a call of one batch', () => {
  it('is one statement when all are new, and when all are the same', async () => {
    const list = puts(20)
    const created = await store.schedules.put(list)
    expect(created).toEqual(
      list.map(({ id }) => ({ id, created: true, changed: true, differs: false, revision: 1, nextAt: null })),
    )
    const same = await store.schedules.put(again(list))
    expect(same).toEqual(created.map((answer) => ({ ...answer, created: false, changed: false })))
    expect(said).toEqual(['with', 'with'])
  })

  it('is one statement that writes nothing when one of them differs', async () => {
    const [there, fresh] = puts(2)
    await store.schedules.put([there!])
    said.length = 0
    const other = { ...there!, id: newId(), definition: { ...there!.definition, job: 'other' } }
    const answers = await store.schedules.put([fresh!, other])
    expect(answers).toMatchObject([
      { created: false, changed: false, differs: false },
      { id: there!.id, created: false, changed: false, differs: true, revision: 1 },
    ])
    expect(said).toEqual(['with'])
    expect(await stored(fresh!)).toBeNull()
    expect(await stored(there!)).toMatchObject({ job: there!.definition.job, revision: 1 })
  })

  it('is a transaction when some are new and some are the same', async () => {
    const [there, fresh] = puts(2)
    await store.schedules.put([there!])
    said.length = 0
    const answers = await store.schedules.put([fresh!, ...again([there!])])
    expect(answers).toMatchObject([
      { id: fresh!.id, created: true, changed: true, revision: 1 },
      { id: there!.id, created: false, changed: false, revision: 1 },
    ])
    expect(said).toEqual(['with', 'begin', 'with', 'with', 'commit'])
  })

  it('is written though one of very many is there, whoever was looked for', async () => {
    const list = puts(1000)
    const [there] = list.splice(777, 1)
    await store.schedules.put([there!])
    const answers = await store.schedules.put([...list, ...again([there!])])
    expect(answers.slice(0, -1).every(({ created }) => created)).toBe(true)
    expect(answers.at(-1)).toMatchObject({ id: there!.id, created: false, changed: false, revision: 1 })
  })

  it('answers which are there when one of those is found that are looked for', async () => {
    const list = puts(1000)
    await store.schedules.put(list.slice(0, 400))
    const answers = await store.schedules.put(again(list))
    expect(answers.flatMap(({ created }, i) => (created ? [] : [i]))).toEqual(list.slice(0, 400).map((_, i) => i))
    expect(answers.map(({ id }) => id).slice(0, 400)).toEqual(list.slice(0, 400).map(({ id }) => id))
  })

  it('is written though another creates one of them meanwhile', async () => {
    const [there, ...list] = puts(20)
    const answers = await meanwhile(there!, () => store.schedules.put(again([...list, there!])))
    expect(answers.map(({ created }) => created)).toEqual([...list.map(() => true), false])
    expect(answers.at(-1)).toMatchObject({ id: there!.id, changed: false, differs: false })
  })
})

describe('a call of several batches', () => {
  it('is written whole or not at all', async () => {
    const list = puts(2100)
    const there = list[1500]!
    await store.schedules.put([there])
    const other = { ...there, id: newId(), definition: { ...there.definition, job: 'other' } }
    const answers = await store.schedules.put(list.with(1500, other))
    expect(answers.filter(({ created, changed }) => created || changed)).toEqual([])
    expect(answers.flatMap(({ differs }, i) => (differs ? [i] : []))).toEqual([1500])
    expect(await stored(list[0]!)).toBeNull()
    expect((await store.schedules.put(list)).filter(({ created }) => created)).toHaveLength(2099)
  })

  it('is written though another creates one of them meanwhile', async () => {
    const list = puts(1100)
    const answers = await meanwhile(list[700]!, () => store.schedules.put(again(list)))
    expect(answers.filter(({ created }) => created)).toHaveLength(1099)
    expect(answers[700]).toMatchObject({ id: list[700]!.id, created: false, changed: false })
  })
})
