/** A Postgres store stopped inside one transaction: the real verbs on a connection whose commits are kept back. */
import type pg from 'pg'
import { openPostgres, type Pool } from '../../src/postgres.ts'
import type { OpenStore } from '../../src/testing.ts'

const ENDS_OR_BEGINS = /^\s*(?:begin|commit|rollback)\b/i
const WAITED_FOR = 'select 1 from pg_stat_activity where $1::integer = any(pg_blocking_pids(pid)) limit 1'

interface Surroundings {
  readonly schema: string
  /** Another connection, to look at who waits for whom. */
  readonly admin: pg.Client
}

export async function openHeldPostgres(client: pg.Client, { schema, admin }: Surroundings): Promise<OpenStore> {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  await client.query('begin')
  let ended = false
  const leased: Awaited<ReturnType<Pool['connect']>> = {
    query: async (config) => (ENDS_OR_BEGINS.test(config.text) ? { rows: [] } : client.query(config)),
    on: () => {},
    release: () => {},
  }
  const pool: Pool = { connect: async () => leased }
  const end = async (how: string): Promise<void> => {
    ended = true
    await client.query(how)
    await client.end()
  }
  return {
    store: await openPostgres({ pool, schema, migrate: false, listen: false }),
    commit: () => end('commit'),
    rollback: () => end('rollback'),
    async waitedFor() {
      while (!ended) if ((await admin.query(WAITED_FOR, [rows[0].pid])).rows.length > 0) return
      return new Promise(() => {})
    },
  }
}
