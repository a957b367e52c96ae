/** Which errors of SQLite blame a lock, the file or the machine, and which setting callers are told to check; waiting is `connection.ts`. */
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type ErrorCode, EverytickError } from '../../errors.ts'
import { resultCode } from './driver.ts'

const BUSY = [5, 6]

interface Opened {
  readonly path: string
  readonly busyTimeoutMs: number
}

interface Refusal {
  readonly code: ErrorCode
  /** Follows the path. */
  readonly text: string
  readonly hint: string
}

/** Somebody else holds the lock. */
export const isBusy = (error: unknown): boolean => BUSY.includes(resultCode(error) ?? 0)

const FILE = 'the path of the database (--db, DATABASE_URL or store)'
const DAMAGED = 'keep a copy of the file, and restore a backup; `sqlite3 <file> .recover` saves what can be read'

/** By the primary result code of SQLite: what follows the path, and what to do. */
const BY_CODE: Readonly<Record<number, Refusal>> = {
  7: { code: 'STORE_UNREACHABLE', text: 'cannot be used: no memory is left', hint: 'free memory on this machine' },
  8: {
    code: 'STORE_DENIED',
    text: 'may not be written by this user',
    hint: 'check the rights of the file and of its folder, in which SQLite keeps its log, and that the disk is not read-only',
  },
  10: {
    code: 'STORE_UNREACHABLE',
    text: 'cannot be read or written: the disk reports an error',
    hint: 'check the disk; keep the file on a local one',
  },
  11: { code: 'STORE_UNUSABLE', text: 'is damaged', hint: DAMAGED },
  13: {
    code: 'STORE_FULL',
    text: 'cannot grow: the disk is full',
    hint: 'free some space on the disk of the file; what was asked for was not written',
  },
  14: {
    code: 'STORE_DENIED',
    text: 'cannot be opened by this user',
    hint: `check ${FILE}, and the rights of the file and of its folder, in which SQLite keeps its log`,
  },
  23: { code: 'STORE_DENIED', text: 'refuses a right', hint: 'check the rights of the file' },
  26: { code: 'STORE_UNUSABLE', text: 'is not a SQLite database', hint: `check ${FILE}` },
}

/** An error of the machine, of the file or of a lock as ours; any other as it is. */
export function refusalOf({ path, busyTimeoutMs }: Opened): (error: unknown) => unknown {
  return (error) => {
    if (isBusy(error)) {
      return new EverytickError('STORE_UNREACHABLE', `${path} stayed locked for ${busyTimeoutMs}ms`, {
        hint: 'another process holds a transaction on this file: keep those short, or end it',
        cause: error,
      })
    }
    const code = resultCode(error)
    if (code === undefined) return error
    const { code: ours, text, hint } = placeProblem(code, path) ?? BY_CODE[code] ?? UNUSABLE
    return new EverytickError(ours, `${path} ${text}: ${(error as Error).message}`, { hint, cause: error })
  }
}

const UNUSABLE: Refusal = {
  code: 'STORE_UNUSABLE',
  text: 'refuses a statement',
  hint: 'were tables of Everytick changed by hand? If not, please report it with these words',
}

/** SQLite has one code for all that keeps it from opening a file. */
function placeProblem(code: number, path: string): Refusal | undefined {
  if (code !== 14 || path === ':memory:') return undefined
  const folder = dirname(path)
  if (!existsSync(folder))
    return {
      code: 'STORE_MISSING',
      text: `cannot be opened: there is no folder ${folder}`,
      hint: `create it, or check ${FILE}`,
    }
  if (!statSync(folder).isDirectory() || (existsSync(path) && statSync(path).isDirectory()))
    return { code: 'STORE_UNUSABLE', text: 'is not a file', hint: `check ${FILE}` }
  return undefined
}
