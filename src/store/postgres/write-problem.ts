/** Finds whether the disk of a Postgres server is full, which the server tells only to those who need space: asks for a sort that needs a temporary file, and writes no row. */
import { EverytickError } from '../../errors.ts'
import type { Connection } from './connection.ts'
import { unprepared } from './statement.ts'

/** About a mebibyte on the disk, in some milliseconds. */
const LITTLE_MEMORY = unprepared(`set local work_mem = '64kB'`)
const SORT = unprepared(`
select count(*) from (select md5(i::text) as word from generate_series(1, 20000) as i order by word) as sorted`)

/** Null when there is space. Where `temp_tablespaces` names another disk, this is about that one. */
export async function writeProblem(connection: Connection): Promise<EverytickError | null> {
  try {
    await connection.api.transact(async (ask) => {
      await ask(LITTLE_MEMORY, [])
      await ask(SORT, [])
    })
    return null
  } catch (error) {
    if (error instanceof EverytickError && error.code === 'STORE_FULL') return error
    throw error
  }
}
