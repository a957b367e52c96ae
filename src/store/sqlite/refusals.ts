/** Which errors of SQLite blame a lock or the machine, and how callers are told that they may pass; waiting is `connection.ts`. */
import { EverytickError } from '../../errors.ts'
import { resultCode } from './driver.ts'

const BUSY = [5, 6]
/** Result codes that blame the machine or the file, not the statement: no memory, read-only, I/O, corrupt, full, cannot open, not a database. */
const ENVIRONMENT = [7, 8, 10, 11, 13, 14, 26]

interface Opened {
  readonly path: string
  readonly busyTimeoutMs: number
}

/** Somebody else holds the lock. */
export const isBusy = (error: unknown): boolean => BUSY.includes(resultCode(error) ?? 0)

/** An error of the machine or of a lock as ours, so that callers know it may pass; any other as it is. */
export function refusalOf({ path, busyTimeoutMs }: Opened): (error: unknown) => unknown {
  return (error) => {
    if (isBusy(error)) {
      return new EverytickError('STORE_UNREACHABLE', `${path} stayed locked for ${busyTimeoutMs}ms`, {
        hint: 'keep transactions on this file short',
        cause: error,
      })
    }
    if (!ENVIRONMENT.includes(resultCode(error) ?? 0)) return error
    return new EverytickError('STORE_UNREACHABLE', `${path}: ${(error as Error).message}`, { cause: error })
  }
}
