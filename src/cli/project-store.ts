/** Which database the project in this folder keeps, for commands that were told of none: that of its configuration, else that of `everytick dev`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CONFIG_FILES, loadConfig } from './config-file.ts'

/** What `everytick dev` keeps its runs in, where nothing else was said. */
export const DEV_FILE = join('.everytick', 'dev.db')

export async function projectStore(): Promise<string | undefined> {
  const store = CONFIG_FILES.some((name) => existsSync(name)) ? (await loadConfig()).options.store : undefined
  if (typeof store === 'string') return store
  return existsSync(DEV_FILE) ? `sqlite:${DEV_FILE}` : undefined
}
