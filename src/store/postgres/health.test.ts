import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import type { Client, Pool } from './client.ts'
import { readSchemaVersion } from './schema-check.ts'
import { openPostgres } from './store.ts'

let database: Database
beforeAll(async () => {
  database = await createReadyDatabase()
})
afterAll(() => database.drop())

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return client
}

/** As a pooler tells it: not the number of the process that answers. */
const told = (client: pg.Client, processID: number): Client =>
  new Proxy(client as unknown as Client, {
    get(target, asked) {
      if (asked === 'processID') return processID
      if (asked === 'release') return () => {}
      const value = Reflect.get(target, asked)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

describe('the health of a Postgres store', () => {
  it('tells that there is no pooler where the server itself answers', async () => {
    const store = await openPostgres({ url: database.url })
    expect(await store.upkeep.health()).toMatchObject({ pooler: false, claimPlan: 'index' })
    await store.close()
  })

  it('tells of a pooler whose clients share sessions, and leaves no mark behind', async () => {
    const session = await connected()
    const shared = told(session, 1)
    const pooler: Pool = { connect: async () => shared }
    const store = await openPostgres({ pool: pooler, listen: false, prepare: false })
    expect((await store.upkeep.health()).pooler).toBe(true)
    const { rows } = await session.query(`select current_setting('everytick.seen', true) as mark`)
    expect(rows).toEqual([{ mark: '' }])
    await store.close()
    await session.end()
  })

  it('does not complain of one that gives each client a session of its own', async () => {
    const sessions = await Promise.all([connected(), connected(), connected()])
    const clients = sessions.map((session) => told(session, 1))
    let turn = 0
    const pooler: Pool = { connect: async () => clients[turn++ % 3]! }
    const store = await openPostgres({ pool: pooler, listen: false, prepare: false })
    expect((await store.upkeep.health()).pooler).toBe(false)
    await store.close()
    await Promise.all(sessions.map((session) => session.end()))
  })

  it('tells that due runs are looked for in the whole table when their index is gone', async () => {
    const client = await connected()
    await client.query('drop index everytick.runs_pending')
    await client.end()
    const store = await openPostgres({ url: database.url })
    expect((await store.upkeep.health()).claimPlan).toBe('scan')
    await store.close()
  })
})

describe('a look at the schema', () => {
  it('says what an empty database lacks, and changes nothing', async () => {
    const place = { url: database.url, schema: 'another' }
    const { version, missing } = await readSchemaVersion(place)
    expect([version, missing[0]]).toMatchObject([0, { version: 1, name: 'schema' }])
    expect((await readSchemaVersion(place)).version).toBe(0)
    expect((await readSchemaVersion({ url: database.url })).missing).toEqual([])
  })
})
