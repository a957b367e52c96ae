import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { DAY, enqueued } from '../../testing/conformance/samples.ts'
import { openPostgres, type PostgresStore } from './store.ts'

const NOON = Date.parse('2027-03-10T12:00:00Z')

let database: Database
let client: pg.Client
let store: PostgresStore
let schemas = 0
let schema: string

beforeAll(async () => {
  database = await createReadyDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Each test in a schema of its own, made on the real day; the clock then stands at noon of another. */
beforeEach(async () => {
  schema = `s${(schemas += 1)}`
  store = await openPostgres({ url: database.url, schema, max: 2 })
  await clockAt(NOON)
  return () => store.close()
})

async function clockAt(at: number): Promise<void> {
  await client.query(
    `create or replace function ${schema}.now_at() returns timestamptz language sql as $$ select to_timestamp(${at / 1000}) $$`,
  )
}

const tidy = (ms = 1000 * DAY) =>
  store.upkeep.tidy({ historyMs: ms, journalMs: ms, idempotencyMs: ms, workersMs: ms, orphansMs: ms, endedMs: null })

const daysOf = async (table: string): Promise<string[]> => {
  const { rows } = await client.query(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = '${schema}.${table}'::regclass order by 1`,
  )
  return rows.map(({ name }) => name.replace(`${schema}.${table}_`, ''))
}

/** A run that ends now; answers its id and the partition it went to. */
async function finished(): Promise<{ id: string; day: string }> {
  const id = await enqueued(store)
  await store.runs.cancel(id, 'test')
  const { rows } = await client.query(`select tableoid::regclass::text as name from ${schema}.history where id = $1`, [
    id,
  ])
  return { id, day: rows[0].name.replace(`${schema}.history_`, '') }
}

it('are made for today and a week ahead, and once', async () => {
  await tidy()
  await tidy()
  const ahead = Array.from({ length: 8 }, (_, i) => `202703${10 + i}`)
  for (const table of ['history', 'journal', 'logs']) expect(await daysOf(table)).toEqual(expect.arrayContaining(ahead))
  expect(new Set(await daysOf('history')).size).toBe((await daysOf('history')).length)
})

it('are there from the first migration on', async () => {
  expect(await daysOf('history')).toHaveLength(9)
  expect(await daysOf('journal')).toHaveLength(9)
  expect(await daysOf('logs')).toHaveLength(9)
})

it('take what finished on their day, to the last millisecond', async () => {
  await tidy()
  for (const [at, day] of [
    ['2027-03-10T00:00:00.000Z', '20270310'],
    ['2027-03-10T23:59:59.999Z', '20270310'],
    ['2027-03-11T00:00:00.000Z', '20270311'],
  ] as const) {
    await clockAt(Date.parse(at))
    expect((await finished()).day).toBe(day)
  }
})

it('are not needed to finish a run, nor in the way of those that come', async () => {
  const early = await finished()
  expect(early.day).toBe('default')
  await tidy()
  expect(await daysOf('history')).not.toContain('20270310')
  expect(await daysOf('history')).toContain('20270311')
  expect((await store.history.run(early.id))!.state).toBe('cancelled')
  await clockAt(NOON + DAY)
  expect((await finished()).day).toBe('20270311')
})

it('are dropped whole when their day lies outside the retention, one a step', async () => {
  await tidy()
  const kept: string[] = []
  for (let day = 0; day < 3; day += 1) {
    await clockAt(NOON + day * DAY)
    kept.push((await finished()).id, (await finished()).id)
  }
  await clockAt(NOON + 4 * DAY)
  // Also the days that the real clock had made are over, and go first.
  while ((await tidy(DAY)).more);
  const left = await Promise.all(kept.map(async (id) => (await store.history.run(id)) !== null))
  expect(left).toEqual([false, false, false, false, false, false])
  expect((await daysOf('history'))[0]).toBe('20270313')
})

it('that somebody is reading are left for the next time, and nobody waits', async () => {
  while ((await tidy(DAY)).more);
  const { id, day } = await finished()
  expect(day).toBe('20270310')
  await clockAt(NOON + 2 * DAY)
  const reader = new pg.Client({ connectionString: database.url })
  await reader.connect()
  await reader.query(`begin; select count(*) from ${schema}.history`)
  expect(await tidy(DAY)).toMatchObject({ more: false })
  expect(await store.history.run(id)).not.toBeNull()
  await reader.query('commit')
  await reader.end()
  expect(await tidy(DAY)).toMatchObject({ removed: 1 })
  expect(await store.history.run(id)).toBeNull()
})
