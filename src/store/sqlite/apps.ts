/** The builds of apps in SQLite: the newest that brought its schedules in line; what an older one may do is decided by whoever syncs. */
import type { Clock } from '../../time/clock.ts'
import type { AppStore } from '../contract/apps.ts'
import type { Connection } from './connection.ts'
import { textOf } from './rows.ts'

const SYNC = `
  insert into everytick_apps (name, build, synced_at) values (?, ?, ?)
  on conflict (name) do update
  set build = max(build, excluded.build), synced_at = iif(excluded.build >= build, excluded.synced_at, synced_at)
  returning build`
const NEWEST = `select build from everytick_apps where name = ?`

export function appStore(connection: Connection, clock: Clock): AppStore {
  return {
    async sync(name, build) {
      const app = textOf(name, 'name')
      const rows = await connection.write(() => connection.all<{ build: number }>(SYNC, app, build, clock.now()))
      return rows[0]?.build ?? build
    },
    async newest(name) {
      const rows = await connection.read(() => connection.all<{ build: number }>(NEWEST, name))
      return rows[0]?.build ?? null
    },
  }
}
