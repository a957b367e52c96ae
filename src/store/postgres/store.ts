/** Opens a Postgres store: checks the options, connects, migrates, and puts the groups of verbs together. */
import { didYouMean } from '../../did-you-mean.ts'
import { EverytickError } from '../../errors.ts'
import { systemClock } from '../../time/clock.ts'
import { postgresAddress, readPostgresAddress } from '../address-text.ts'
import type { FailoverStore } from '../contract/failovers.ts'
import type { Store } from '../contract/store.ts'
import { createApps } from './apps.ts'
import { createAuditLog } from './audit-log.ts'
import { createBackfills } from './backfills.ts'
import { createClaims } from './claims.ts'
import type { Pool } from './client.ts'
import { connect } from './connection.ts'
import { createDocuments } from './documents.ts'
import { createServerAdmission } from './failovers.ts'
import { createFeed } from './feed.ts'
import { createGroups } from './groups.ts'
import { createHistory } from './history.ts'
import { createLocks } from './locks.ts'
import { createLogs } from './logs.ts'
import { migrate, migrationSql, quotedSchema } from './migrate.ts'
import { createMonitoring } from './monitoring.ts'
import { createPlanning } from './planning.ts'
import { createQueues } from './queues.ts'
import { createQuotas } from './quotas.ts'
import { msOf } from './rows.ts'
import { createRuns } from './runs.ts'
import { createSchedules } from './schedules.ts'
import { createSharing } from './shared-queues.ts'
import { prepared } from './statement.ts'
import { createStats } from './stats.ts'
import { createUpkeep } from './upkeep.ts'
import { createVacuum } from './vacuum.ts'
import { createWake } from './wake.ts'
import { createWorkers } from './workers.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database`; several hosts are tried in turn, and `?schema=…&prepare=false&listen=false&max=10` is understood. */
  readonly url?: string
  /** A pool of the caller's own instead; it is not closed with the store. */
  readonly pool?: Pool
  /** Where the tables live. @default 'everytick' */
  readonly schema?: string
  /** Whether to bring the schema up to date now. @default true */
  readonly migrate?: boolean
  /** Connections for what the app asks for, beside the few of the working path. @default 6 */
  readonly max?: number
  /** Whether to hear from other processes by LISTEN; switch it off behind a pooler in transaction mode. @default true */
  readonly listen?: boolean
  /** Whether to keep statements prepared; switch it off behind PgBouncer before 1.21. @default true */
  readonly prepare?: boolean
  /** After which a statement counts as lost with its connection. @default 30000 */
  readonly statementTimeoutMs?: number
}

export interface PostgresStore extends Store {
  /** The SQL that makes the schema from nothing, for those who migrate by other means. */
  sql(): string
}

const KNOWN = ['url', 'pool', 'schema', 'migrate', 'max', 'listen', 'prepare', 'statementTimeoutMs']

export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  checkOptions(options)
  const { pool, url } = options
  const places = url === undefined ? null : readPostgresAddress(url)
  const {
    schema = 'everytick',
    max = 6,
    prepare = true,
    listen = true,
    statementTimeoutMs = 30_000,
  } = { ...places?.settings, ...defined(options) }
  const quoted = quotedSchema(schema)
  const name = storeName(options)
  const admission = createServerAdmission({ name, clock: systemClock })
  const where = pool ? { pool } : { urls: places!.urls }
  const connection = connect({ max, prepare, statementTimeoutMs, name, admission, ...where })
  let failovers: FailoverStore
  try {
    const address = url === undefined ? '<address>' : postgresAddress(url, schema)
    await migrate(connection, { schema: quoted, migrate: options.migrate ?? true, name, address })
    failovers = await admission.watch(connection, quoted)
  } catch (error) {
    await connection.close()
    throw error
  }
  const wake = createWake(connection, { channel: `${schema}_wake`, listen })
  const sharing = createSharing(connection, quoted)
  const vacuum = createVacuum(connection, quoted, { clock: systemClock })
  const parts = { connection, wake, sharing, vacuum, schema: quoted }
  const clock = prepared(`select ${msOf(`${quoted}.now_at()`)} as now`)
  let closing: Promise<void> | null = null
  return {
    name,
    schedules: createSchedules(parts),
    planning: createPlanning(connection, wake, quoted),
    runs: createRuns(parts),
    claims: createClaims(parts),
    groups: createGroups(connection, wake, quoted),
    queues: createQueues(parts),
    backfills: createBackfills(connection, wake, quoted),
    apps: createApps(connection, quoted),
    history: createHistory(connection, quoted),
    locks: createLocks(connection, quoted),
    workers: createWorkers(connection, quoted),
    failovers,
    documents: createDocuments(connection, quoted),
    auditLog: createAuditLog(connection, quoted),
    logs: createLogs(connection, quoted),
    feed: createFeed(connection, quoted),
    stats: createStats(connection, quoted),
    monitoring: createMonitoring(connection, quoted),
    quotas: createQuotas(connection, quoted),
    upkeep: createUpkeep(connection, quoted),
    wake,
    now: async () => (await connection.hot.ask<{ now: number }>(clock, []))[0]!.now,
    sql: () => migrationSql({ schema }),
    close() {
      closing ??= wake.close().then(() => connection.close())
      return closing
    },
  }
}

function checkOptions(options: PostgresOptions): void {
  for (const key of Object.keys(options)) {
    if (KNOWN.includes(key)) continue
    const near = didYouMean(key, KNOWN)
    const hint = near ? `did you mean ${near}?` : `known are ${KNOWN.join(', ')}`
    throw new EverytickError('OPTION_UNKNOWN', `"${key.slice(0, 60)}" is not an option of a Postgres store`, { hint })
  }
  for (const [key, least] of [
    ['max', 1],
    ['statementTimeoutMs', 1],
  ] as const) {
    const value = options[key]
    if (value !== undefined && !(Number.isInteger(value) && value >= least))
      throw new EverytickError('OPTION_INVALID', `${key} is a whole number from ${least} on, not ${String(value)}`)
  }
  if ((options.url === undefined) === (options.pool === undefined))
    throw new EverytickError('OPTION_INVALID', 'a Postgres store needs either a url or a pool')
}

/** For people, and so without the password. */
export function storeName({ url, pool }: Pick<PostgresOptions, 'url' | 'pool'>): string {
  if (pool) return 'postgres (a pool of the app)'
  const { urls, hosts } = readPostgresAddress(url!)
  const { username, pathname } = new URL(urls[0])
  return `postgres ${username ? `${decodeURIComponent(username)}@` : ''}${hosts || 'localhost'}${pathname}`
}

/** An option that is given as undefined is not given. */
const defined = (options: PostgresOptions): PostgresOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
