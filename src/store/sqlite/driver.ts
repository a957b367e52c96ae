/** Finds the SQLite this runtime can offer and names its few methods we use; how a connection is kept is `connection.ts`. */
import { EverytickError } from '../../errors.ts'

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

/** SQLite's primary result code of an error thrown by the driver; undefined when it is some other error. */
export function resultCode(error: unknown): number | undefined {
  const code = error instanceof Error ? (error as { errcode?: unknown }).errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}

/** Versions before 3.51.3 can, very rarely, damage a file that two connections write to at the same instant. */
export function mayDamageSharedFile(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return major * 1e6 + minor * 1e3 + patch < 3_051_003
}
