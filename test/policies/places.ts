/** Places for tests of policies: each store on an empty database, with one clock that the test moves for both the store and the app. */
import pg from 'pg'
import { openPostgres } from '../../src/postgres.ts'
import { openSqlite } from '../../src/sqlite.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import type { TestPlace } from '../../src/testing/test-everytick.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { standingClock } from '../postgres/standing-clock.ts'

/** Work on these stages waits for nothing but the clock. */
export interface Place extends TestPlace {
  close(): Promise<void>
}

async function sqlite(startAt: number): Promise<Place> {
  const clock = fakeClock(startAt)
  const store = await openSqlite({ path: ':memory:', clock })
  return { store, clock, waitLimitMs: 0, close: () => store.close() }
}

async function postgres(startAt: number): Promise<Place> {
  const database = await createReadyDatabase()
  const store = await openPostgres({ url: database.url })
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  const moved = await standingClock(admin, startAt)
  return {
    store,
    clock: fakeClock(startAt),
    moved,
    waitLimitMs: 0,
    async close() {
      await store.close()
      await admin.end()
      await database.drop()
    },
  }
}

export const PLACES = { SQLite: sqlite, Postgres: postgres }
