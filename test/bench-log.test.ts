/** Holds what the benchmarks on Postgres say of the server they run on: its log has files to write over, so that none is made while they measure. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from './postgres/launcher.ts'

const { wearIn }: { wearIn: (client: pg.Client) => Promise<number> } = await import(
  new URL('../benchmarks/core/postgres-log.mjs', import.meta.url).href
)

let server: PostgresServer
let client: pg.Client

beforeAll(async () => {
  server = await startPostgres({ own: true })
  client = new pg.Client({ connectionString: server.url })
  await client.connect()
  // Measurements go through gigabytes; this is enough to see it.
  await client.query(`alter system set max_wal_size = '256MB'`)
  await client.query('select pg_reload_conf()')
  // Otherwise a file is made some time after it was come to.
  await client.query('set synchronous_commit = on')
}, 60_000)

afterAll(async () => {
  await client.end()
  await server.stop()
})

const files = async (): Promise<number> =>
  (await client.query<{ n: number }>('select count(*)::int as n from pg_ls_waldir()')).rows[0]!.n

/** Goes on to the next file of the log; answers how many files that added. */
async function madeByGoingOn(): Promise<number> {
  const before = await files()
  await client.query(`select pg_logical_emit_message(true, 'test', '')`)
  await client.query('select pg_switch_wal()')
  await client.query(`select pg_logical_emit_message(true, 'test', '')`)
  return (await files()) - before
}

it('a new server makes each file of its log when it comes to it, and one that is worn in makes none', async () => {
  expect(await madeByGoingOn()).toBe(1)
  expect(await wearIn(client)).toBeGreaterThan(2)
  expect(await madeByGoingOn()).toBe(0)
})
