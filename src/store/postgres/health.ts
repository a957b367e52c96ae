/** How the database of a Postgres store is: dead rows, old transactions and size; whether that is good is for others to say. */
import { systemClock } from '../../time/clock.ts'
import type { StoreHealth } from '../contract/upkeep.ts'
import { claimPlanOf } from './claim-plan.ts'
import type { Connection } from './connection.ts'
import { NEWEST_VERSION } from './migrate.ts'
import { findPooler } from './pooler.ts'
import { prepared, type Statement } from './statement.ts'

interface HealthRow {
  dead: number | null
  oldest: number
  bytes: number
  version: string
  schema_version: number
}

/** To plan a claim costs the server ten milliseconds, and health is asked for by whoever scrapes. */
const PLAN_FOR_MS = 60_000

export function createHealth(connection: Connection, schema: string): () => Promise<StoreHealth> {
  const health = healthStatement(schema)
  const claimPlan = remembered(claimPlanOf(connection, schema), PLAN_FOR_MS)
  // Nobody moves a pooler in front of connections that are open.
  const pooler = remembered(() => findPooler(connection), Number.POSITIVE_INFINITY)
  return async () => {
    const row = (await connection.api.ask<HealthRow>(health, []))[0]!
    return {
      deadTuples: row.dead,
      oldestSnapshotMs: row.oldest,
      bytes: row.bytes,
      version: row.version,
      schemaVersion: row.schema_version,
      newestVersion: NEWEST_VERSION,
      claimPlan: await claimPlan(),
      pooler: await pooler(),
      exposedFiles: [],
    }
  }
}

/** What was learned, for so long; null when it could not be learned, and then asked for again. */
function remembered<Answer>(look: () => Promise<Answer>, forMs: number): () => Promise<Answer | null> {
  let known: { readonly answer: Answer; readonly at: number } | null = null
  return async () => {
    if (known && systemClock.elapsed() - known.at < forMs) return known.answer
    try {
      known = { answer: await look(), at: systemClock.elapsed() }
      return known.answer
    } catch {
      return null
    }
  }
}

/** Transactions of others are seen as far as the server shows them to us. */
const healthStatement = (schema: string): Statement =>
  prepared(`
select
  (select n_dead_tup from pg_stat_user_tables where relid = '${schema}.runs'::regclass) as dead,
  (
    select coalesce(max(greatest(0, round(date_part('epoch', clock_timestamp() - xact_start) * 1000))), 0)
    from pg_stat_activity
    where pid <> pg_backend_pid() and datname = current_database() and (backend_xmin is not null or backend_xid is not null)
  ) as oldest,
  (
    select coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_class c
    where c.relnamespace = '${schema}'::regnamespace and c.relkind = 'r'
  ) as bytes,
  split_part(current_setting('server_version'), ' ', 1) as version,
  (select max(version) from ${schema}.migrations) as schema_version`)
