/** Finds why a SQLite file takes no writes at this moment: another process keeps its lock, or its disk is full. Asks for the lock and the free space, and writes nothing. */
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EverytickError } from '../../errors.ts'
import type { Connection } from './connection.ts'

/** With less than this on its disk, a commit of ordinary size may fail. */
const LEAST_BYTES = 1_048_576

/** Null when the file takes writes. */
export async function writeProblem(connection: Connection): Promise<EverytickError | null> {
  try {
    // As long as any write would wait.
    await connection.read(() => connection.exec('begin immediate; rollback'))
  } catch (error) {
    if (!(error instanceof EverytickError)) throw error
    // A user who may not write cannot see whether others can.
    return error.code === 'STORE_DENIED' ? null : error
  }
  const path = pathOf(connection)
  if (path === '') return null
  const { bavail, bsize } = await statfs(dirname(path))
  return diskProblem(path, bavail * bsize)
}

/** `bytes`: what is left on the disk for this user. */
export function diskProblem(path: string, bytes: number): EverytickError | null {
  if (bytes >= LEAST_BYTES) return null
  const left = `${Math.floor(bytes / 1024)} KiB left`
  return new EverytickError('STORE_FULL', `${path} cannot grow: its disk is full (${left})`, {
    hint: `free some space on the disk of ${path}`,
  })
}

/** Empty for a database in memory. */
function pathOf(connection: Connection): string {
  const [main] = connection.all<{ file: string | null }>('pragma database_list')
  return main?.file ?? ''
}
