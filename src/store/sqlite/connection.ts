/** One connection to one file: statements prepared once, reads at once, writes gathered into durable transactions; knows no table. */
import { setImmediate as afterIo, setTimeout as later } from 'node:timers'
import { EverytickError } from '../../errors.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { type Database, openDatabase, type PreparedStatement, type Row, type Value } from './driver.ts'
import { isBusy, refusalOf } from './refusals.ts'

export interface Step {
  readonly text: string
  readonly values: readonly Value[]
  /** How many rows it writes, when it is more than a few. */
  readonly rows?: number
}

/**
 * Yields statements and is handed their rows. Parameters are plain question marks, one for each value: several drivers
 * take numbered ones for names and leave them unbound.
 */
export type Steps<T> = Generator<Step, T, readonly Row[]>

/** How heavy a write is; by a function when that is known only when its turn comes. */
export type Weight = number | (() => number)

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
  write<T>(work: () => T, rows?: Weight): Promise<T>
  /** The same for work in steps. When there are many, the event loop has its turn between two of them, but no reader of ours. */
  writeSteps<T>(steps: () => Steps<T>, rows?: Weight): Promise<T>
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly path: string
  /** How long a write waits for other processes before it gives up. */
  readonly busyTimeoutMs: number
  readonly clock?: Pick<Clock, 'elapsed'>
}

interface Write {
  readonly steps: () => Steps<unknown>
  readonly rows: Weight
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** The driver blocks the event loop while it waits for a lock, so it may wait this long only; the rest is waited for by timer. */
const BLOCKING_MS = 10
/** Rows that share one transaction: near ten milliseconds of work. */
const GROUP_ROWS = 1000
/** Rows after which work in steps lets the event loop in: a few milliseconds of it. */
const TURN_ROWS = 300
const PRAGMAS = `
  pragma busy_timeout = ${BLOCKING_MS};
  pragma synchronous = full;
  pragma foreign_keys = off;
  pragma cache_size = -32000;
  pragma temp_store = memory;
  pragma wal_autocheckpoint = 1000;
  pragma journal_size_limit = 67108864;`

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
  } catch (error) {
    database.close()
    throw error
  }
  return connection
}

function connectionOn(database: Database, options: ConnectionOptions): Connection {
  const { clock = systemClock } = options
  const refusal = refusalOf(options)
  const prepared = new Map<string, PreparedStatement>()
  const waiting: Write[] = []
  let flushing: Promise<void> | undefined
  /** The transaction that is open, until it has ended one way or the other. */
  let open: Promise<void> | undefined
  let underWay = 0
  let closed = false
  let hasWal = false

  const statement = (text: string): PreparedStatement => {
    let found = prepared.get(text)
    if (found === undefined) prepared.set(text, (found = database.prepare(text)))
    return found
  }

  /** Calls until no other process is in the way; each call is synchronous, and the event loop is free between two. */
  async function whenFree<T>(call: () => T): Promise<T> {
    let busySince: number | null = null
    for (;;) {
      // What is not committed is nobody's to see.
      while (open !== undefined) await open
      if (closed) throw new EverytickError('STORE_UNREACHABLE', `${options.path} was closed`)
      try {
        return call()
      } catch (error) {
        // By the clock: timers of a loaded machine ring late, and a claim that waits longer than its lease is lost.
        busySince ??= clock.elapsed()
        if (!isBusy(error) || clock.elapsed() - busySince >= options.busyTimeoutMs) throw refusal(error)
      }
      const pauseMs = Math.ceil(Math.random() * BLOCKING_MS)
      await new Promise((resolve) => later(resolve, pauseMs))
    }
  }

  /** Before the first write rather than at the opening: the change is kept in the file, and reading must not change a file. */
  function useWal(): void {
    if (hasWal) return
    const [row] = database.prepare('pragma journal_mode = wal').all() as { journal_mode: string }[]
    hasWal = row?.journal_mode === 'wal' || row?.journal_mode === 'memory'
    if (hasWal) return
    throw new EverytickError('STORE_UNREACHABLE', `${options.path} cannot have a write-ahead log`, {
      hint: 'keep the file on a local disk',
    })
  }

  function rollBack(): void {
    try {
      database.exec('rollback')
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }

  /** A full disk may have undone the whole transaction: then there is no savepoint, and the first error is the one to show. */
  function undoOne(error: unknown): void {
    try {
      database.exec('rollback to one; release one')
    } catch {
      throw error
    }
  }

  async function execute<T>(steps: Steps<T>): Promise<T> {
    let rows = 0
    let step = steps.next()
    while (!step.done) {
      const { text, values } = step.value
      const answer = statement(text).all(...values) as Row[]
      rows += step.value.rows ?? 1
      if (rows >= TURN_ROWS) {
        rows = 0
        await turn()
      }
      step = steps.next(answer)
    }
    return step.value
  }

  /** One write inside the shared transaction; what it throws undoes only itself. */
  async function separately({ steps, resolve, reject }: Write): Promise<() => void> {
    database.exec('savepoint one')
    try {
      const value = await execute(steps())
      database.exec('release one')
      return () => resolve(value as never)
    } catch (error) {
      undoOne(error)
      return () => reject(refusal(error))
    }
  }

  async function commit(group: readonly Write[]): Promise<void> {
    let answers: (() => void)[] = []
    try {
      const [first] = group
      if (group.length === 1 && first) {
        const value = await execute(first.steps())
        answers.push(() => first.resolve(value as never))
      } else for (const write of group) answers.push(await separately(write))
      database.exec('commit')
    } catch (error) {
      rollBack()
      answers = group.map((write) => () => write.reject(refusal(error)))
    }
    open = undefined
    for (const answer of answers) answer()
  }

  function takeGroup(): Write[] {
    let rows = 0
    const weight = (of: Weight): number => (typeof of === 'number' ? of : of())
    const over = waiting.findIndex((write, i) => (rows += weight(write.rows)) > GROUP_ROWS && i > 0)
    return waiting.splice(0, over === -1 ? waiting.length : over)
  }

  /** Each group has a turn of the event loop of its own: promises alone would never let timers and sockets in. */
  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      await turn()
      try {
        await whenFree(() => {
          useWal()
          database.exec('begin immediate')
          open = commit(takeGroup())
          return open
        })
      } catch (error) {
        for (const write of takeGroup()) write.reject(error)
      }
    }
    flushing = undefined
  }

  const enter = <T>(steps: () => Steps<T>, rows: Weight): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.push({ steps, rows, resolve, reject })
      flushing ??= flush()
    })

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
    write: (work, rows = 1) => enter(() => atOnce(work), rows),
    writeSteps: (steps, rows = 1) => enter(steps, rows),
    async close() {
      while (flushing !== undefined || underWay > 0) await (flushing ?? turn())
      if (closed) return
      closed = true
      prepared.clear()
      database.close()
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => afterIo(() => resolve()))

/** Work that has no steps. */
// biome-ignore lint/correctness/useYield: it is over before it could yield.
function* atOnce<T>(work: () => T): Steps<T> {
  return work()
}
