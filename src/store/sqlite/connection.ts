/** One connection to one file: statements prepared once, reads at once, writes gathered into durable transactions; knows no table. */
import { setImmediate as afterIo, setTimeout as later } from 'node:timers'
import { EverytickError } from '../../errors.ts'
import { type Database, openDatabase, type PreparedStatement, type Row, resultCode, type Value } from './driver.ts'

export interface Connection {
  /** Runs one statement and answers its rows. */
  all<R = Row>(text: string, ...values: Value[]): R[]
  /** Runs one statement and answers how many rows it changed. */
  run(text: string, ...values: Value[]): number
  exec(text: string): void
  /** Runs `work` at once, outside of any transaction. */
  read<T>(work: () => T): Promise<T>
  /**
   * Runs `work` wholly or not at all, and answers when it is on the disk. Writes asked for in the same turn share one
   * transaction, and so one wait for the disk; `rows` says how heavy this one is.
   */
  write<T>(work: () => T, rows?: number): Promise<T>
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly path: string
  /** How long a write waits for other processes before it gives up. */
  readonly busyTimeoutMs: number
}

interface Write {
  readonly work: () => unknown
  readonly rows: number
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** The driver blocks the event loop while it waits for a lock, so it may wait this long only; the rest is waited for by timer. */
const BLOCKING_MS = 10
/** Rows that share one transaction: near ten milliseconds of work. */
const GROUP_ROWS = 1000
const PRAGMAS = `
  pragma busy_timeout = ${BLOCKING_MS};
  pragma synchronous = full;
  pragma foreign_keys = off;
  pragma cache_size = -32000;
  pragma temp_store = memory;
  pragma wal_autocheckpoint = 1000;
  pragma journal_size_limit = 67108864;`

const BUSY = [5, 6]
/** Result codes that blame the machine or the file, not the statement: no memory, read-only, I/O, corrupt, full, cannot open, not a database. */
const ENVIRONMENT = [7, 8, 10, 11, 13, 14, 26]

export async function connect(options: ConnectionOptions): Promise<Connection> {
  const refusal = refusalOf(options)
  let database: Database
  try {
    database = await openDatabase(options.path)
  } catch (error) {
    throw refusal(error)
  }
  const connection = connectionOn(database, options)
  try {
    await connection.read(() => database.exec(PRAGMAS))
    const [mode] = await connection.read(() => connection.all<{ journal_mode: string }>('pragma journal_mode = wal'))
    if (mode?.journal_mode !== 'wal' && mode?.journal_mode !== 'memory') {
      throw new EverytickError('STORE_UNREACHABLE', `${options.path} cannot have a write-ahead log`, {
        hint: 'keep the file on a local disk',
      })
    }
  } catch (error) {
    database.close()
    throw error
  }
  return connection
}

function connectionOn(database: Database, options: ConnectionOptions): Connection {
  const refusal = refusalOf(options)
  const prepared = new Map<string, PreparedStatement>()
  const waiting: Write[] = []
  let flushing: Promise<void> | undefined
  let underWay = 0
  let closed = false

  const statement = (text: string): PreparedStatement => {
    let found = prepared.get(text)
    if (found === undefined) prepared.set(text, (found = database.prepare(text)))
    return found
  }

  /** Calls until no other process is in the way; each call is synchronous, and the event loop is free between two. */
  async function whenFree<T>(call: () => T): Promise<T> {
    for (let waitedMs = 0; ; waitedMs += BLOCKING_MS) {
      if (closed) throw new EverytickError('STORE_UNREACHABLE', `${options.path} was closed`)
      try {
        return call()
      } catch (error) {
        if (!BUSY.includes(resultCode(error) ?? 0) || waitedMs >= options.busyTimeoutMs) throw refusal(error)
      }
      const pauseMs = Math.ceil(Math.random() * BLOCKING_MS)
      waitedMs += pauseMs
      await new Promise((resolve) => later(resolve, pauseMs))
    }
  }

  function rollBack(): void {
    try {
      database.exec('rollback')
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }

  /** One write inside the shared transaction; what it throws undoes only itself. */
  function separately({ work, resolve, reject }: Write): () => void {
    database.exec('savepoint one')
    try {
      const value = work()
      database.exec('release one')
      return () => resolve(value as never)
    } catch (error) {
      database.exec('rollback to one; release one')
      return () => reject(refusal(error))
    }
  }

  function commit(group: readonly Write[]): void {
    const answers: (() => void)[] = []
    try {
      const [first] = group
      if (group.length === 1 && first) {
        const value = first.work()
        answers.push(() => first.resolve(value as never))
      } else for (const write of group) answers.push(separately(write))
      database.exec('commit')
    } catch (error) {
      rollBack()
      for (const write of group) write.reject(refusal(error))
      return
    }
    for (const answer of answers) answer()
  }

  function takeGroup(): Write[] {
    let rows = 0
    const over = waiting.findIndex((write, i) => (rows += write.rows) > GROUP_ROWS && i > 0)
    return waiting.splice(0, over === -1 ? waiting.length : over)
  }

  /** Each group has a turn of the event loop of its own: promises alone would never let timers and sockets in. */
  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      await new Promise((resolve) => afterIo(resolve))
      try {
        await whenFree(() => {
          database.exec('begin immediate')
          commit(takeGroup())
        })
      } catch (error) {
        for (const write of takeGroup()) write.reject(error)
      }
    }
    flushing = undefined
  }

  return {
    all: <R>(text: string, ...values: Value[]) => statement(text).all(...values) as R[],
    run: (text, ...values) => Number(statement(text).run(...values).changes),
    exec: (text) => database.exec(text),
    async read(work) {
      underWay += 1
      try {
        return await whenFree(work)
      } finally {
        underWay -= 1
      }
    },
    write: (work, rows = 1) =>
      new Promise((resolve, reject) => {
        waiting.push({ work, rows, resolve, reject })
        flushing ??= flush()
      }),
    async close() {
      while (flushing !== undefined || underWay > 0) await (flushing ?? new Promise((resolve) => afterIo(resolve)))
      if (closed) return
      closed = true
      prepared.clear()
      database.close()
    },
  }
}

/** An error of the machine or of a lock as ours, so that callers know it may pass; any other as it is. */
function refusalOf({ path, busyTimeoutMs }: ConnectionOptions): (error: unknown) => unknown {
  return (error) => {
    const code = resultCode(error) ?? 0
    if (BUSY.includes(code)) {
      return new EverytickError('STORE_UNREACHABLE', `${path} stayed locked for ${busyTimeoutMs}ms`, {
        hint: 'keep transactions on this file short',
        cause: error,
      })
    }
    if (!ENVIRONMENT.includes(code)) return error
    return new EverytickError('STORE_UNREACHABLE', `${path}: ${(error as Error).message}`, { cause: error })
  }
}
