/** Holds a real store at its next insert into one table, so that a test can kill the process that inserts. */
import pg from 'pg'
import { openDatabase } from '../../src/store/sqlite/driver.ts'

export type HeldTable = 'runs' | 'audit_log'

/** Returns a function that lets inserts through again. */
export type HoldInserts = (address: string, table: HeldTable) => Promise<() => Promise<void>>

/** Inserts wait for the lock of another session; reads do not. */
async function holdPostgres(address: string, table: HeldTable): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query(`begin; lock table everytick.${table} in share row exclusive mode`)
  return () => client.end()
}

/** A trigger that never ends: SQLite works on the insert until its process is killed, and readers see the state before it. */
async function holdSqlite(address: string, table: HeldTable): Promise<() => Promise<void>> {
  const path = address.slice('sqlite:'.length)
  const database = await openDatabase(path)
  database.exec('pragma busy_timeout = 10000')
  database.exec(`
    create view endless as with recursive n (i) as (select 1 union all select i + 1 from n) select i from n;
    create trigger held before insert on everytick_${table} begin select count(*) from endless; end`)
  database.close()
  return async () => {
    const again = await openDatabase(path)
    again.exec('pragma busy_timeout = 10000')
    again.exec('drop trigger held; drop view endless')
    again.close()
  }
}

export const HOLD_INSERTS: Readonly<Record<'sqlite' | 'postgres', HoldInserts>> = {
  sqlite: holdSqlite,
  postgres: holdPostgres,
}
