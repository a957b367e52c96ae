import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, releaseClosedFiles } from './driver.ts'
import { MIGRATIONS } from './migrations/all.ts'
import { migrationSql } from './schema.ts'
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
        policy, worker_id, lease_until)
        values (hex(randomblob(4)), 'w', 'j', 'q', '${state}', 'enqueue', 5, 0, 0, '{}', '{}', ${worker}, ${lease})`)
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

  it('is brought up to date from the first version on, with every row that was there', async () => {
    const [first] = MIGRATIONS
    await elsewhere(`
      create table everytick_migrations (version integer not null primary key, name text not null, applied_at integer not null) strict;
      ${first!.sql}
      insert into everytick_migrations values (1, 'start', 0);
      insert into everytick_schedules values ('s', 'w', 'k', 3, '{"kind":"once","at":9}', 'j', 'q', '{}', 5, '{}', '{}', '', '[]', '{}',
        'api', 7, 8, null, null);
      insert into everytick_cursors values ('s', 9, 7, 3);
      insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, scheduled_at, due_at, created_at,
        payload, policy) values ('r', 'w', 'j', 'q', 'pending', 'schedule', 5, 's', 9, 9, 8, '{}', '{}');
      insert into everytick_non_runs values ('s', 1, 2, 2, 'missed', 'policy', 7);`)
    const store = await openSqlite({ path })
    const kept = { createdAt: 7, createdBy: 'api', sinceAt: 7, made: 0, nextAt: 9, firing: { overlap: 'skip' } }
    expect(await store.schedules.get('w', 'k')).toMatchObject(kept)
    expect(await store.history.run('r')).toMatchObject({ lane: null, overlap: 'allow', gate: 'open' })
    expect(await store.history.nonRuns('s')).toMatchObject([{ reason: 'policy', detail: '', count: 2 }])
    await store.close()
  })

  it('lets one run of a lane be open, and only open ones run', async () => {
    await (await openSqlite({ path })).close()
    const insert = (lane: string, gate: string, state = 'pending'): Promise<unknown[]> =>
      elsewhere(`insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload,
        policy, worker_id, lease_until, lane, overlap, gate)
        values (hex(randomblob(4)), 'w', 'j', 'q', '${state}', 'enqueue', 5, 0, 0, '{}', '{}',
          iif('${state}' = 'running', 'w1', null), iif('${state}' = 'running', 5, null),
          ${lane}, iif(${lane} is null, 'allow', 'queue'), '${gate}')`)
    for (const gate of ['open', 'closed', 'waiting']) await insert(`'a'`, gate)
    await insert(`'b'`, 'open', 'running')
    for (const lane of [`'a'`, `'b'`]) await expect(insert(lane, 'open')).rejects.toThrow('UNIQUE')
    await expect(insert(`'c'`, 'waiting', 'running')).rejects.toThrow('CHECK')
    await expect(insert('null', 'closed')).rejects.toThrow('CHECK')
    await expect(insert(`'c'`, 'ajar')).rejects.toThrow('CHECK')
  })
})
