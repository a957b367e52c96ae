/** The stores that chaos is let loose on: a SQLite file, a database of the suite's Postgres, and a Postgres of one's own to restart. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres } from '../../src/postgres.ts'
import { openSqlite } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { startPostgres } from '../postgres/launcher.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'

export interface ChaosStore {
  readonly store: Store
  /** For the processes of the fleet. */
  readonly url: string
  close(): Promise<void>
}

export interface ChaosServer extends ChaosStore {
  restartImmediately(): Promise<void>
}

async function sqlite(): Promise<ChaosStore> {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-chaos-'))
  const path = join(folder, 'everytick.db')
  const store = await openSqlite({ path })
  const close = async (): Promise<void> => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { store, url: `sqlite:${path}`, close }
}

async function postgres(): Promise<ChaosStore> {
  const database = await createReadyDatabase()
  const store = await openPostgres({ url: database.url })
  const close = async (): Promise<void> => {
    await store.close()
    await database.drop()
  }
  return { store, url: database.url, close }
}

/** Keeps every commit, since it will be killed. */
export async function ownPostgres(): Promise<ChaosServer> {
  const server = await startPostgres({ durable: true, own: true })
  const store = await openPostgres({ url: server.url })
  const close = async (): Promise<void> => {
    await store.close()
    await server.stop()
  }
  return { store, url: server.url, close, restartImmediately: server.restartImmediately }
}

export const STORES = { SQLite: sqlite, Postgres: postgres }
