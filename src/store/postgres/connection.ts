/** Two pools, statements and transactions on them, and an orderly end; what is asked is decided by the verbs. */
import pg from 'pg'
import { EverytickError } from '../../errors.ts'
import { failureOf, isAway, mayTryAgain } from './failure.ts'
import { type Ask, type Statement, unprepared, type Value } from './statement.ts'

/** As much of a `pg` client as is used; a client of a caller's own pool fits. */
export interface Client {
  /** Of the server's process, as it was told when the connection was made. */
  readonly processID?: number | null
  query(config: QueryConfig): Promise<{ rows: unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'notification', listener: (message: { channel: string; payload?: string | undefined }) => void): unknown
  on(event: 'end', listener: () => void): unknown
  release(broken?: boolean): void
}

export interface QueryConfig {
  text: string
  values?: unknown[]
  name?: string
  rowMode?: 'array'
  types?: { getTypeParser(oid: number): (text: string) => unknown }
  query_timeout?: number
}

/** A `pg` pool, or what behaves like one. */
export interface Pool {
  connect(): Promise<Client>
}

export interface ConnectionOptions {
  readonly url?: string
  readonly pool?: Pool
  readonly max: number
  readonly prepare: boolean
  readonly statementTimeoutMs: number
  readonly name: string
}

/** A pool as the verbs see it. What fails for no fault of its own, such as a deadlock, is done again. */
export interface Lane {
  /** One statement. */
  readonly ask: Ask
  /** Several statements in one transaction. */
  transact<Answer>(work: (ask: Ask) => Promise<Answer>): Promise<Answer>
}

export interface Connection {
  /** For claims, renewals, settlements and planning: never queues behind what people ask for. */
  readonly hot: Lane
  readonly api: Lane
  /** Work that asks later than it begins, by `late`: whoever closes waits for it, and refuses what is begun afterwards. */
  begun<Answer>(work: () => Promise<Answer>): Promise<Answer>
  /** On the second pool, also while it is being closed; fails as the driver does. */
  readonly late: Ask
  /** Several statements on one client of the second pool, and in no transaction. */
  lend<Answer>(work: (client: Client) => Promise<Answer>): Promise<Answer>
  /** A connection for one purpose, outside of both pools where we own them. */
  dedicated(): Promise<Client>
  /** Connections in use, in all, and callers that wait; null when the pool is the caller's own. */
  usage(): { readonly used: number; readonly size: number; readonly waiting: number } | null
  close(): Promise<void>
}

const TRIES = 5
const CONNECT_TIMEOUT_MS = 5000
/** Enough for a claim, a settlement, two plans and a renewal at once; a second settlement takes what is free. */
const HOT_CONNECTIONS = 5

export function connect(options: ConnectionOptions): Connection {
  const { name, prepare, statementTimeoutMs: timeoutMs } = options
  const own = options.pool
    ? []
    : [
        poolOf(options, { max: HOT_CONNECTIONS, set: KEEP_PLANS }),
        poolOf(options, { max: options.max, set: COMPILE_NOTHING }),
      ]
  const [hot, api] = options.pool ? [options.pool, options.pool] : (own as [pg.Pool, pg.Pool])
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | null = null

  const begun = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    if (closing) throw new EverytickError('STORE_UNREACHABLE', `${name} was closed`)
    const task = work()
    underWay.add(task)
    try {
      return await task
    } catch (error) {
      throw failureOf(error, name)
    } finally {
      underWay.delete(task)
    }
  }

  /** One piece of work on one client, watched until it ends, and repeated when nothing of it was written. */
  const using = <Answer>(pool: Pool, work: (client: Client) => Promise<Answer>): Promise<Answer> =>
    begun(() => repeated(() => borrowed(pool, work)))

  const askOn = (client: Client): Ask => {
    return async <Row>(statement: Statement, values: readonly Value[]) => {
      const config: QueryConfig = { text: statement.text, values: values as unknown[], types: TYPES }
      if (prepare && statement.name) config.name = statement.name
      if (statement.rowMode) config.rowMode = statement.rowMode
      if (!statement.patient) config.query_timeout = timeoutMs
      return (await client.query(config)).rows as Row[]
    }
  }
  const lane = (pool: Pool): Lane => ({
    ask: (statement, values) => using(pool, (client) => askOn(client)(statement, values)),
    transact: (work) => using(pool, (client) => transaction(askOn(client), work)),
  })

  return {
    hot: lane(hot),
    api: lane(api),
    begun,
    late: (statement, values) => repeated(() => borrowed(api, (client) => askOn(client)(statement, values))),
    lend: (work) => using(api, work),
    dedicated: () => (options.pool ? options.pool.connect().then(guarded) : alone(options)),
    usage: () => (options.pool ? null : usageOf(own)),
    close() {
      closing ??= (async () => {
        while (underWay.size > 0) await Promise.allSettled(underWay)
        await Promise.all(own.map((pool) => pool.end()))
      })()
      return closing
    },
  }
}

function usageOf(pools: readonly pg.Pool[]): { used: number; size: number; waiting: number } {
  const sum = (of: (pool: pg.Pool) => number): number => pools.reduce((all, pool) => all + of(pool), 0)
  return {
    used: sum(({ totalCount, idleCount }) => totalCount - idleCount),
    size: sum(({ options }) => options.max),
    waiting: sum(({ waitingCount }) => waitingCount),
  }
}

/** The pool's own limit would also end the waiting for a free connection, which under load is only a queue. */
class QuickClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  }
}

function poolOf({ url, prepare }: ConnectionOptions, { max, set }: { max: number; set: string }): pg.Pool {
  const settings = { connectionString: url, max, idleTimeoutMillis: 60_000, keepAlive: true, Client: QuickClient }
  const pool = new pg.Pool({ ...settings, application_name: 'everytick' })
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {})
  // Without prepared statements there is perhaps a pooler between us and the server, which would hand our settings on to others.
  if (prepare) pool.on('connect', (client) => void client.query(set).catch(() => {}))
  return pool
}

/**
 * A server with a compiler uses it for what it takes to be long work, by the number of rows stored. None of ours is: the
 * compiling alone would take fifty times as long as a look.
 */
const COMPILE_NOTHING = 'set jit = off'
/**
 * Hot statements are written so that one plan serves all that they are asked; otherwise each connection would plan each of
 * them five times before it trusts that.
 */
const KEEP_PLANS = `${COMPILE_NOTHING}; set plan_cache_mode = force_generic_plan`

async function alone({ url }: ConnectionOptions): Promise<Client> {
  const client = new QuickClient({ connectionString: url, keepAlive: true, application_name: 'everytick listen' })
  client.on('error', () => {})
  await client.connect()
  return Object.assign(client, { release: () => void client.end().catch(() => {}) }) as unknown as Client
}

const guardedClients = new WeakSet<Client>()

/** A client that is borrowed has no listener of the pool's, and its connection may break between two statements. */
function guarded(client: Client): Client {
  if (!guardedClients.has(client)) client.on('error', () => {})
  guardedClients.add(client)
  return client
}

async function borrowed<Answer>(pool: Pool, work: (client: Client) => Promise<Answer>): Promise<Answer> {
  const client = guarded(await pool.connect())
  let broken = false
  try {
    return await work(client)
  } catch (error) {
    broken = isAway(error)
    throw error
  } finally {
    client.release(broken)
  }
}

async function repeated<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === TRIES || !mayTryAgain(error)) throw error
    }
  }
}

// Each statement must see what was committed while the one before it waited for a lock.
const BEGIN = unprepared('begin isolation level read committed')
const COMMIT = unprepared('commit')
const ROLLBACK = unprepared('rollback')

async function transaction<Answer>(ask: Ask, work: (ask: Ask) => Promise<Answer>): Promise<Answer> {
  await ask(BEGIN, [])
  try {
    const answer = await work(ask)
    await ask(COMMIT, [])
    return answer
  } catch (error) {
    // A rollback that fails leaves a connection that the pool finds broken.
    if (!isAway(error)) await ask(ROLLBACK, []).catch(() => {})
    throw error
  }
}

/** Our own reading of values, so that a caller's changes to the driver's cannot reach us. */
const number = (text: string): number => Number(text)
const PARSERS = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  ...[20, 21, 23, 700, 701, 1700].map((oid) => [oid, number] as const),
  ...[114, 3802].map((oid) => [oid, JSON.parse as (text: string) => unknown] as const),
])
const asText = (text: string): string => text
const TYPES = { getTypeParser: (oid: number) => PARSERS.get(oid) ?? asText }
