import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.ts'
import { connect } from './connection.ts'
import { openDatabase, releaseClosedFiles } from './driver.ts'
import { MIGRATIONS } from './migrations/all.ts'
import { migrationSql, prepareSchema } from './schema.ts'
import { openSqlite } from './store.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everytick-'))
  path = join(folder, 'a.db')
})

afterEach(() => rmSync(folder, { recursive: true }))

/** Runs SQL on the file as somebody else would; answers the rows of the last statement. */
async function elsewhere(script: string, question = 'select 1'): Promise<unknown[]> {
  const database = await openDatabase(path)
  database.exec(script)
  const rows = database.prepare(question).all()
  database.close()
  await releaseClosedFiles()
  return rows
}

const SCHEMA = `select name, sql from sqlite_schema where name not like 'sqlite_%' order by name`
const VERSIONS = 'select version, name from everytick_migrations order by version'

describe('the schema of a SQLite file', () => {
  it('is made at the first opening, recorded, and left alone at the second', async () => {
    await (await openSqlite({ path })).close()
    const made = await elsewhere('', SCHEMA)
    expect(await elsewhere('', VERSIONS)).toEqual(MIGRATIONS.map(({ version, name }) => ({ version, name })))
    await (await openSqlite({ path })).close()
    expect(await elsewhere('', SCHEMA)).toEqual(made)
  })

  it('is made once when several open an empty file at the same time', async () => {
    const stores = await Promise.all([1, 2, 3, 4].map(() => openSqlite({ path })))
    for (const store of stores) await store.close()
    expect(await elsewhere('', VERSIONS)).toHaveLength(MIGRATIONS.length)
  })

  it('is refused when a newer version made it, and nothing is changed', async () => {
    await (await openSqlite({ path })).close()
    await elsewhere(`insert into everytick_migrations values (9999, 'from the future', 0)`)
    const before = await elsewhere('', SCHEMA)
    await expect(openSqlite({ path })).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
    expect(await elsewhere('', SCHEMA)).toEqual(before)
  })

  it('is refused, not made, when migrating is switched off, and the refusal names the command', async () => {
    const refusal = { code: 'STORE_MISSING', hint: expect.stringContaining(`everytick migrate --db sqlite:${path}`) }
    await expect(openSqlite({ path, migrate: false })).rejects.toMatchObject(refusal)
    expect(existsSync(path)).toBe(false)
    writeFileSync(path, '')
    await expect(openSqlite({ path, migrate: false })).rejects.toMatchObject(refusal)
    expect([readdirSync(folder), readFileSync(path).length]).toEqual([['a.db'], 0])
  })

  it('is refused in the file of another program without a change to a byte of it', async () => {
    await elsewhere('create table mine (a); insert into mine values (1)')
    const before = readFileSync(path)
    await expect(openSqlite({ path, migrate: false })).rejects.toMatchObject({ code: 'STORE_MISSING' })
    expect([readdirSync(folder), readFileSync(path).equals(before)]).toEqual([['a.db'], true])
  })

  it('is read without a change to a byte, also in a copy that has no write-ahead log', async () => {
    await (await openSqlite({ path })).close()
    await releaseClosedFiles()
    await elsewhere('pragma journal_mode = delete')
    const before = readFileSync(path)
    const store = await openSqlite({ path, migrate: false })
    expect(await store.schedules.list({ limit: 1 })).toEqual([])
    await store.close()
    expect([readdirSync(folder), readFileSync(path).equals(before)]).toEqual([['a.db'], true])
  })

  it('can be made by hand from the printed script, and is then the same', async () => {
    await elsewhere(migrationSql())
    const store = await openSqlite({ path, migrate: false })
    expect(store.sql()).toBe(migrationSql())
    await store.close()
    const byHand = await elsewhere('', SCHEMA)
    expect(await elsewhere('', VERSIONS)).toHaveLength(MIGRATIONS.length)
    path = join(folder, 'b.db')
    await (await openSqlite({ path })).close()
    expect(await elsewhere('', SCHEMA)).toEqual(byHand)
  })

  it('leaves tables of the user alone, whatever they are called', async () => {
    const names = ['schedules', 'cursors', 'runs', 'history', 'journal', 'locks', 'workers', 'migrations']
    await elsewhere(
      names.map((name) => `create table ${name} (mine text); insert into ${name} values ('kept');`).join(''),
    )
    const store = await openSqlite({ path })
    await store.workers.leave('nobody')
    await store.close()
    for (const name of names) expect(await elsewhere('', `select * from ${name}`)).toEqual([{ mine: 'kept' }])
  })

  it('ties the state of a run to its lease, so that no other row can exist', async () => {
    await (await openSqlite({ path })).close()
    const insert = (state: string, worker: string, lease: string): Promise<unknown[]> =>
      elsewhere(`insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload,
        policy, worker_id, lease_until, started_at)
        values (hex(randomblob(4)), 'w', 'j', 'q', '${state}', 'enqueue', 5, 0, 0, '{}', '{}', ${worker}, ${lease}, 1)`)
    await insert('pending', 'null', 'null')
    await insert('running', `'w1'`, '5')
    for (const [state, worker, lease] of [
      ['pending', `'w1'`, '5'],
      ['pending', 'null', '5'],
      ['running', 'null', '5'],
      ['running', `'w1'`, 'null'],
      ['succeeded', 'null', 'null'],
    ] as const)
      await expect(insert(state, worker, lease)).rejects.toThrow('CHECK')
  })

  const later = [...MIGRATIONS, { version: 2, name: 'later', sql: 'create table everytick_later (a text) strict' }]

  /** As a later version of the store would, which needs one migration more. */
  async function migrateLater(isAllowed: boolean): Promise<void> {
    const connection = await connect({ path, busyTimeoutMs: 5000 })
    const named = { name: 'the file', address: 'sqlite:a.db' }
    try {
      await prepareSchema(connection, { ...named, migrate: isAllowed, clock: systemClock }, later)
    } finally {
      await connection.close()
    }
  }

  it('of an older version is brought up to date by what it lacks, with every row that was there', async () => {
    const store = await openSqlite({ path })
    await store.workers.reportPresence({ id: 'w1', host: 'h', pid: 1, roles: [], queues: {}, tzdata: '', busy: 0 })
    const before = (await elsewhere('', SCHEMA)) as { name: string }[]
    await Promise.all([migrateLater(true), migrateLater(true)])
    const after = (await elsewhere('', SCHEMA)) as { name: string }[]
    expect(after.filter(({ name }) => name !== 'everytick_later')).toEqual(before)
    expect(after).toHaveLength(before.length + 1)
    expect(await store.workers.list()).toHaveLength(1)
    expect(await elsewhere('', VERSIONS)).toEqual(later.map(({ version, name }) => ({ version, name })))
    await store.close()
  })

  it('of an older version is refused and left as it is where migrating is switched off, with the command that does it', async () => {
    await (await openSqlite({ path })).close()
    const before = await elsewhere('', SCHEMA)
    const refusal = {
      code: 'SCHEMA_OUTDATED',
      message: 'the file lacks migration 2 (later)',
      hint: 'run: everytick migrate --db sqlite:a.db',
    }
    await expect(migrateLater(false)).rejects.toMatchObject(refusal)
    expect(await elsewhere('', SCHEMA)).toEqual(before)
  })

  it('lets one run of a concurrency_group be open, and only open ones run', async () => {
    await (await openSqlite({ path })).close()
    const insert = (group: string, readiness: string, state = 'pending'): Promise<unknown[]> =>
      elsewhere(`insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload,
        policy, worker_id, lease_until, started_at, concurrency_group, overlap, readiness)
        values (hex(randomblob(4)), 'w', 'j', 'q', '${state}', 'enqueue', 5, 0, 0, '{}', '{}',
          iif('${state}' = 'running', 'w1', null), iif('${state}' = 'running', 5, null), 1,
          ${group}, iif(${group} is null, 'allow', 'queue'), '${readiness}')`)
    for (const readiness of ['ready', 'undecided', 'blocked']) await insert(`'a'`, readiness)
    await insert(`'b'`, 'ready', 'running')
    for (const group of [`'a'`, `'b'`]) await expect(insert(group, 'ready')).rejects.toThrow('UNIQUE')
    await expect(insert(`'c'`, 'blocked', 'running')).rejects.toThrow('CHECK')
    await expect(insert('null', 'undecided')).rejects.toThrow('CHECK')
    await expect(insert(`'c'`, 'ajar')).rejects.toThrow('CHECK')
  })
})
