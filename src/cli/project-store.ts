/** Which database the project in this folder keeps, for commands that were told of none: that of its configuration, else that of `everytick dev`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreOption } from '../open-store.ts'
import { coreOf } from '../scheduler/core.ts'
import { CONFIG_FILES, type LoadedConfig, loadConfig } from './config-file.ts'
import { withoutConfig } from './no-config.ts'

/** What `everytick dev` keeps its runs in, where nothing else was said. */
export const DEV_FILE = join('.everytick', 'dev.db')

/** `config`: the configuration file that was named; the one in this folder otherwise. */
export async function projectStore(config?: string): Promise<StoreOption | undefined> {
  // Nor the database that the folder keeps: whoever does not trust the folder names another.
  if (withoutConfig(config)) return undefined
  const isConfigured = config !== undefined || CONFIG_FILES.some((name) => existsSync(name))
  const store = isConfigured ? storeOf(await loadConfig(config)) : undefined
  if (store !== undefined) return store
  return existsSync(DEV_FILE) ? `sqlite:${DEV_FILE}` : undefined
}

const storeOf = ({ app, options }: LoadedConfig): StoreOption | undefined =>
  app ? coreOf(app).settings.store : options.store
