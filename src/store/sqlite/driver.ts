/** Finds the SQLite this runtime can offer and names its few methods we use; how a connection is kept is `connection.ts`. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { EverytickError } from '../../errors.ts'
import { createPrivateFile } from './private-file.ts'

export type Value = string | number | null
/** A row as the driver gives it: no prototype, so a column can have any name. */
export type Row = Readonly<Record<string, Value>>

export interface PreparedStatement {
  run(...values: Value[]): { readonly changes: number | bigint }
  all(...values: Value[]): unknown[]
}

/** What Node's own module and the package for older runtimes have in common. */
export interface Database {
  exec(text: string): void
  prepare(text: string): PreparedStatement
  close(): void
}

interface Driver {
  readonly DatabaseSync: new (path: string) => Database
}

/** Opens a database with the runtime's own SQLite; two different copies of SQLite in one process must not share a file. */
export async function openDatabase(path: string): Promise<Database> {
  const { DatabaseSync } = builtIn() ?? (await packaged())
  // SQLite itself would let everybody read a new file.
  createPrivateFile(path)
  return new DatabaseSync(path)
}

function builtIn(): Driver | undefined {
  const emitWarning = process.emitWarning
  // Only the one warning that Node prints for loading this very module is held back, and only while it loads.
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).startsWith('SQLite is an experimental')) emitWarning.call(process, warning, ...rest)
  }) as typeof process.emitWarning
  try {
    return process.getBuiltinModule('node:sqlite') as Driver | undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

async function packaged(): Promise<Driver> {
  try {
    return (await import('@photostructure/sqlite')) as unknown as Driver
  } catch (cause) {
    throw new EverytickError('SQLITE_MISSING', 'this runtime has no SQLite of its own', {
      hint: 'run on Node 22.13 or newer, or install @photostructure/sqlite',
      cause,
    })
  }
}

/**
 * The package for older runtimes closes a file only when the garbage collector has taken the last prepared statement, and a
 * process that ends before that leaves the file's log behind. Takes 15 ms there, and nothing where Node has its own SQLite.
 */
export async function releaseClosedFiles(): Promise<void> {
  if (builtIn() !== undefined) return
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  await yieldToEventLoop()
}

/** The result code of an error in a statement. */
const GENERIC = 1

/** SQLite's primary result code of an error thrown by the driver; undefined when it is some other error. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { errcode, code } = error as { errcode?: unknown; code?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  // The package for older runtimes gives no number when a statement cannot be prepared.
  return code === 'ERR_SQLITE_ERROR' ? GENERIC : undefined
}

/** Versions before 3.51.3 can, very rarely, damage a file that two connections write to at the same instant. */
export function mayDamageSharedFile(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return major * 1e6 + minor * 1e3 + patch < 3_051_003
}
