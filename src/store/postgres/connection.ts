/** Two pools, statements and transactions on them, and an orderly end; what is asked is decided by the verbs. */
import pg from 'pg'
import { EverytickError } from '../../errors.ts'
import type { PoolUsage } from '../contract/upkeep.ts'
import { createBorrow, guarded } from './borrow.ts'
import type { Client, Pool, QueryConfig } from './client.ts'
import { failureOf, isAway, mayTryAgain } from './failure.ts'
import { type Admit, createHosts, type Hosts } from './hosts.ts'
import { type Ask, type Statement, unprepared, type Value } from './statement.ts'

export interface ConnectionOptions {
  /** One for each host; those after the first are tried when it is away, or no primary. */
  readonly urls?: readonly [string, ...string[]]
  readonly pool?: Pool
  readonly max: number
  readonly prepare: boolean
  readonly statementTimeoutMs: number
  readonly name: string
  readonly admission?: Admission
}

/** Decides about a connection of a pool before its first use, and again when the server behind it may be another. */
export interface Admission {
  isAdmitted(client: Client): boolean
  /** Throws when the connection must not be used. `server` names the server in messages. */
  admit(client: Client, executor: Executor, server: string): Promise<void>
  /** The server has answered. */
  answered(): void
}

/** A pool as the verbs see it. What fails for no fault of its own, such as a deadlock, is done again. */
export interface Executor {
  /** One statement. */
  readonly ask: Ask
  /** Several statements in one transaction. */
  transact<Answer>(work: (ask: Ask) => Promise<Answer>): Promise<Answer>
}

export interface Connection {
  /** For claims, renewals, settlements and planning: never queues behind what people ask for, and waits no longer than `leased` allows. */
  readonly hot: Executor
  /** The same connections, for writes whose size grows with what there is to write. */
  readonly bulk: Executor
  readonly api: Executor
  /** A worker with leases of this length uses the connection: an answer on `hot` that takes a third of it is of no more use. */
  leased(leaseMs: number): void
  /** Work that asks later than it begins, by `late`: whoever closes waits for it, and refuses what is begun afterwards. */
  begun<Answer>(work: () => Promise<Answer>): Promise<Answer>
  /** On the second pool, also while it is being closed; fails as the driver does. */
  readonly late: Ask
  /** Several statements on one client of the second pool, and in no transaction. */
  lend<Answer>(work: (client: Client) => Promise<Answer>): Promise<Answer>
  /** A connection for one purpose, outside of both pools where we own them. */
  dedicated(): Promise<Client>
  /** Null when the pool is the caller's own. */
  usage(): PoolUsage | null
  close(): Promise<void>
}

const TRIES = 5
const CONNECT_TIMEOUT_MS = 5000
/** For each question of the gate to a server. */
const CHECK_TIMEOUT_MS = 5000
/** Shorter leases do not make timeouts shorter than this: a slow network is not a dead one. */
const LEAST_TIMEOUT_MS = 1000
/** After which a silent connection is checked: a peer that is gone is noticed before long, also where nothing is asked. */
const KEEP_ALIVE_MS = 10_000
/** Enough for a claim, a settlement, two plans and a renewal at once; a second settlement takes what is free. */
const HOT_CONNECTIONS = 5

export function connect(options: ConnectionOptions): Connection {
  const { name, prepare, statementTimeoutMs: timeoutMs, admission } = options
  let hotTimeoutMs = timeoutMs
  const hosts = options.urls ? createHosts(options.urls) : null
  const own = options.pool
    ? []
    : [
        poolOf(hosts!, { prepare, max: HOT_CONNECTIONS, set: KEEP_PLANS, timeoutMs: () => hotTimeoutMs }),
        poolOf(hosts!, { prepare, max: options.max, set: COMPILE_NOTHING, timeoutMs: () => timeoutMs }),
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

  const admit: Admit = async (client, server) => {
    if (admission && !admission.isAdmitted(client)) await admission.admit(client, executorOn(client), server)
  }
  const borrow = createBorrow(own, hosts, admit)
  /** One piece of work on one client, watched until it ends, and repeated when nothing of it was written. */
  const using = <Answer>(pool: Pool, work: (client: Client) => Promise<Answer>): Promise<Answer> =>
    begun(() => repeated(() => admitted(pool, work)))

  const admitted = <Answer>(pool: Pool, work: (client: Client) => Promise<Answer>): Promise<Answer> =>
    borrow(pool, async (client) => {
      await admit(client, name)
      const answer = await work(client)
      admission?.answered()
      return answer
    })

  const askOn = (client: Client, limitMs = () => timeoutMs): Ask => {
    return async <Row>(statement: Statement, values: readonly Value[]) => {
      const config: QueryConfig = { text: statement.text, values: values as unknown[], types: TYPES }
      if (prepare && statement.name) config.name = statement.name
      if (statement.rowMode) config.rowMode = statement.rowMode
      if (!statement.patient) config.query_timeout = limitMs()
      return (await client.query(config)).rows as Row[]
    }
  }
  /** For the gate. */
  const executorOn = (client: Client): Executor => {
    const ask = askOn(client, () => Math.min(hotTimeoutMs, CHECK_TIMEOUT_MS))
    return { ask, transact: (work) => transaction(ask, work) }
  }
  const executor = (pool: Pool, limitMs?: () => number): Executor => ({
    ask: (statement, values) => using(pool, (client) => askOn(client, limitMs)(statement, values)),
    transact: (work) => using(pool, (client) => transaction(askOn(client, limitMs), work)),
  })

  return {
    hot: executor(hot, () => hotTimeoutMs),
    bulk: executor(hot),
    api: executor(api),
    leased(leaseMs) {
      hotTimeoutMs = Math.min(hotTimeoutMs, Math.max(LEAST_TIMEOUT_MS, leaseMs / 3))
    },
    begun,
    late: (statement, values) => repeated(() => admitted(api, (client) => askOn(client)(statement, values))),
    lend: (work) => using(api, work),
    dedicated: () => (options.pool ? options.pool.connect().then(guarded) : hosts!.connect(() => alone(hosts!), admit)),
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

function usageOf(pools: readonly pg.Pool[]): PoolUsage {
  const sum = (of: (pool: pg.Pool) => number): number => pools.reduce((all, pool) => all + of(pool), 0)
  return {
    used: sum(({ totalCount, idleCount }) => totalCount - idleCount),
    size: sum(({ options }) => options.max),
    waiting: sum(({ waitingCount }) => waitingCount),
  }
}

/** The pool's own limit would also end the waiting for a free connection, which under load is only a queue. */
const quickClient = (hosts: Hosts, timeoutMs: () => number): typeof pg.Client =>
  class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({
        ...config,
        ...KEEP_ALIVE,
        connectionString: hosts.url,
        connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS, timeoutMs()),
      })
    }
  }

const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS }

interface PoolSettings {
  readonly prepare: boolean
  readonly max: number
  /** Statements that a new connection begins with. */
  readonly set: string
  readonly timeoutMs: () => number
}

function poolOf(hosts: Hosts, { prepare, max, set, timeoutMs }: PoolSettings): pg.Pool {
  const settings = { max, idleTimeoutMillis: 60_000, Client: quickClient(hosts, timeoutMs) }
  const pool = new pg.Pool({ ...settings, application_name: 'everytick' })
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {})
  // Without prepared statements there is perhaps a pooler between us and the server, which would hand our settings on to others.
  if (prepare) pool.on('connect', (client) => void client.query(`${set}; ${NOTICE_LOSS}`).catch(() => {}))
  return pool
}

/**
 * A server with a compiler uses it for what it takes to be long work, by the number of rows stored. None of ours is: the
 * compiling alone would take fifty times as long as a look.
 */
const COMPILE_NOTHING = 'set jit = off'
/**
 * A process that is cut off in the middle of a transaction must not hold its locks until the server's own keepalive notices, which
 * by default takes two hours; nor while a statement waits for a lock, which Postgres can check from 14 on and not on every platform.
 */
const NOTICE_LOSS = `set idle_in_transaction_session_timeout = '10s';
set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
do $$ begin perform set_config('client_connection_check_interval', '5s', false); exception when others then null; end $$`
/**
 * Hot statements are written so that one plan serves all that they are asked; otherwise each connection would plan each of
 * them five times before it trusts that. The plan may be made while a table is empty, or looks so, where reading all of it or of
 * an index looks cheapest, and is kept while the table grows: every hot statement finds its rows by an index, in its order.
 */
export const KEEP_PLANS = `${COMPILE_NOTHING}; set plan_cache_mode = force_generic_plan;
set enable_seqscan = off; set enable_bitmapscan = off`

async function alone(hosts: Hosts): Promise<Client> {
  const Client = quickClient(hosts, () => CONNECT_TIMEOUT_MS)
  const client = new Client({ application_name: 'everytick listen' })
  client.on('error', () => {})
  await client.connect()
  return Object.assign(client, { release: () => void client.end().catch(() => {}) }) as unknown as Client
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
