/** The default database of the project in this folder: the store of its configuration, else the database of `everytick dev`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreOption } from '../open-store.ts'
import { coreOf } from '../scheduler/core.ts'
import { CONFIG_FILES, type LoadedConfig, loadConfig } from './config-file.ts'
import { withoutConfig } from './no-config.ts'

/** The default database of `everytick dev`. */
export const DEV_FILE = join('.everytick', 'dev.db')

/** `config`: the configuration file given; else the one in this folder. */
export async function projectStore(config?: string): Promise<StoreOption | undefined> {
  // --no-config also ignores the folder's own database: a user who does not trust the folder names another.
  if (withoutConfig(config)) return undefined
  const isConfigured = config !== undefined || CONFIG_FILES.some((name) => existsSync(name))
  const store = isConfigured ? storeOf(await loadConfig(config)) : undefined
  if (store !== undefined) return store
  return existsSync(DEV_FILE) ? `sqlite:${DEV_FILE}` : undefined
}

const storeOf = ({ app, options }: LoadedConfig): StoreOption | undefined =>
  app ? coreOf(app).settings.store : options.store
