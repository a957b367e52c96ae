import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase, type Database } from '../../../test/postgres/launcher.ts'
import { RUN_STATES } from '../../run/state.ts'
import { connect } from './connection.ts'
import { MIGRATIONS, migrate, migrationSql, quotedSchema } from './migrate.ts'
import { SCHEMA } from './migrations/0001-schema.ts'
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
    const { rows } = await client.query('select version, name from together.migrations order by version')
    expect(rows).toEqual([{ version: 1, name: 'schema' }])
    await Promise.all(stores.map((store) => store.close()))
  })

  it('keeps schemas of one database apart', async () => {
    const [one, other] = [await opened('one'), await opened('other')]
    await one.workers.reportPresence({ id: 'w1', host: 'h', pid: 1, roles: [], queues: {}, tzdata: '', busy: 0 })
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
    const missing = { code: 'STORE_MISSING', hint: expect.stringContaining('everytick migrate --db') }
    await expect(opened('by_hand', { migrate: false })).rejects.toMatchObject(missing)
    await client.query(migrationSql({ schema: 'by_hand' }))
    const store = await opened('by_hand', { migrate: false })
    expect(store.sql()).toBe(migrationSql({ schema: 'by_hand' }))
    await store.close()
  })

  it('has nothing to print for a database that is up to date', async () => {
    await (await opened('newest')).close()
    const { rows } = await client.query('select max(version) as version from newest.migrations')
    expect(migrationSql({ from: rows[0].version })).toBe('')
  })

  it('refuses a database that a newer version has migrated', async () => {
    await (await opened('newer')).close()
    await client.query(`insert into newer.migrations values (99, 'from the future', now())`)
    for (const migrate of [true, false])
      await expect(opened('newer', { migrate })).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
  })
})

describe('a database of an older schema', () => {
  const later = [...MIGRATIONS, { version: 2, name: 'later', sql: 'create table {schema}.later ();' }]

  /** As a later version of the store would, which needs one migration more. */
  async function migrateLater(schema: string, isAllowed: boolean): Promise<void> {
    const options = { urls: [database.url], max: 1, prepare: false, statementTimeoutMs: 30_000, name: 'test' } as const
    const connection = connect(options)
    const named = { name: 'the database', address: 'postgres://app@db' }
    try {
      await migrate(connection, { ...named, schema: `"${schema}"`, migrate: isAllowed }, later)
    } finally {
      await connection.close()
    }
  }
  const tablesOf = async (schema: string): Promise<string[]> => {
    const all = `select relname from pg_class where relnamespace = $1::regnamespace and relkind = 'r' order by relname`
    return (await client.query<{ relname: string }>(all, [schema])).rows.map(({ relname }) => relname)
  }

  it('is brought up to date by what it lacks, with every row that was there', async () => {
    const store = await opened('older')
    await store.workers.reportPresence({ id: 'w1', host: 'h', pid: 1, roles: [], queues: {}, tzdata: '', busy: 0 })
    const before = await tablesOf('older')
    await Promise.all([migrateLater('older', true), migrateLater('older', true)])
    expect(await tablesOf('older')).toEqual([...before, 'later'].sort())
    expect(await store.workers.list()).toHaveLength(1)
    const { rows } = await client.query('select version, name from older.migrations order by version')
    expect(rows).toEqual(later.map(({ version, name }) => ({ version, name })))
    await store.close()
  })

  it('is refused and left as it is where migrating is switched off, with the command that does it', async () => {
    await (await opened('left')).close()
    const before = await tablesOf('left')
    const refusal = {
      code: 'SCHEMA_OUTDATED',
      message: 'the database lacks migration 2 (later)',
      hint: 'run: everytick migrate --db postgres://app@db',
    }
    await expect(migrateLater('left', false)).rejects.toMatchObject(refusal)
    expect(await tablesOf('left')).toEqual(before)
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
    const statesIn = (table: string): string[] => {
      const [made] = new RegExp(`create table \\{schema\\}\\.${table} \\([\\s\\S]*?\\n\\)`).exec(SCHEMA)!
      const [, states] = /state in \(([^)]*)\)/.exec(made) ?? /(case state[^;]*?)else/.exec(made)!
      return [...states!.matchAll(/(?:^|when |, )'(\w+)'/g)].map(([, name]) => name!)
    }
    expect(statesIn('runs')).toEqual(['pending', 'running'])
    expect(statesIn('history')).toEqual(['succeeded', 'failed', 'cancelled'])
    expect(['runs', 'history', 'non_runs'].flatMap(statesIn)).toEqual(RUN_STATES)
  })
})
