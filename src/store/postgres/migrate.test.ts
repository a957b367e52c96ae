import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase, type Database } from '../../../test/postgres/launcher.ts'
import { RUN_STATES, type RunState } from '../../run/state.ts'
import { migrationSql, quotedSchema } from './migrate.ts'
import { CORE } from './migrations/0001-core.ts'
import { openPostgres, type PostgresOptions } from './store.ts'

let database: Database
let client: pg.Client

beforeAll(async () => {
  database = await createDatabase(inject('postgres'))
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

const opened = (schema: string, options: Partial<PostgresOptions> = {}) =>
  openPostgres({ url: database.url, schema, ...options })

describe('migrating', () => {
  it('happens once, however many processes start at the same moment', async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => opened('together')))
    for (const store of stores) expect(await store.schedules.list({ limit: 1 })).toEqual([])
    const { rows } = await client.query('select version, name from together.migrations')
    expect(rows).toEqual([{ version: 1, name: 'core' }])
    await Promise.all(stores.map((store) => store.close()))
  })

  it('keeps schemas of one database apart', async () => {
    const [one, other] = [await opened('one'), await opened('other')]
    await one.workers.beat({ id: 'w1', host: 'h', pid: 1, roles: [], queues: {}, tzdata: '', busy: 0 })
    expect(await one.workers.list()).toHaveLength(1)
    expect(await other.workers.list()).toEqual([])
    await Promise.all([one.close(), other.close()])
  })

  it('leaves nothing behind when it fails half way', async () => {
    await client.query('create schema taken; create table taken.workers ()')
    await expect(opened('taken')).rejects.toThrow(/workers/)
    const { rows } = await client.query(`select relname from pg_class where relnamespace = 'taken'::regnamespace`)
    expect(rows).toEqual([{ relname: 'workers' }])
  })

  it('is refused where it is switched off, until somebody has applied the SQL', async () => {
    const outdated = { code: 'SCHEMA_OUTDATED', hint: expect.stringContaining('everytick migrate --sql') }
    await expect(opened('by_hand', { migrate: false })).rejects.toMatchObject(outdated)
    await client.query(migrationSql({ schema: 'by_hand' }))
    const store = await opened('by_hand', { migrate: false })
    expect(store.sql()).toBe(migrationSql({ schema: 'by_hand' }))
    await store.close()
  })

  it('has nothing to print for a database that is up to date', () => {
    expect(migrationSql({ from: 1 })).toBe('')
  })

  it('refuses a database that a newer version has migrated', async () => {
    await (await opened('newer')).close()
    await client.query(`insert into newer.migrations values (99, 'from the future', now())`)
    for (const migrate of [true, false])
      await expect(opened('newer', { migrate })).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
  })
})

describe('the name of a schema', () => {
  it('is a plain identifier or refused', () => {
    for (const name of ['everytick', '_a', 'order', 'a1_b2', 'x'.repeat(40)])
      expect(quotedSchema(name)).toBe(`"${name}"`)
    const bad = ['', 'A', 'a-b', '1a', 'a b', 'a"b', "a'b", 'a.b', 'a;drop', 'pg_x', 'é', 'a\0', 'x'.repeat(41)]
    for (const name of bad)
      expect(() => quotedSchema(name)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })

  it('may be a word that SQL keeps for itself', async () => {
    const store = await opened('order')
    expect(await store.now()).toBeGreaterThan(0)
    await store.close()
  })
})

describe('the tables', () => {
  it('hold exactly the states that the state machine knows', () => {
    const [live, finished] = [...CORE.matchAll(/check \(state in \(([^)]*)\)\)/g)].map((match) =>
      match[1]!.split(', ').map((name) => name.replaceAll("'", '') as RunState),
    )
    expect(live!.toSorted()).toEqual(['pending', 'running'])
    expect([...live!, ...finished!].sort()).toEqual(RUN_STATES.toSorted())
  })
})
