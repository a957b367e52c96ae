/** The builds of apps in Postgres: the newest known stays known; what an older one may do is decided by the caller. */
import type { AppStore } from '../contract/apps.ts'
import type { Connection } from './connection.ts'
import { prepared } from './statement.ts'

export function createApps(connection: Connection, schema: string): AppStore {
  const sync = prepared(`
insert into ${schema}.apps as a (name, build, synced_at) select $1::text, $2::float8, ${schema}.now_at()
on conflict (name) do update
set build = greatest(a.build, excluded.build),
  synced_at = case when excluded.build >= a.build then excluded.synced_at else a.synced_at end
returning build`)
  const newest = prepared(`select build from ${schema}.apps where name = $1::text`)
  return {
    async sync(name, build) {
      return (await connection.api.ask<{ build: number }>(sync, [name, build]))[0]!.build
    },
    async newest(name) {
      return (await connection.api.ask<{ build: number }>(newest, [name]))[0]?.build ?? null
    },
  }
}
