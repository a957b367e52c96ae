/** Gives a configuration file its types; what it says is judged where it is loaded. */
import type { EverytickOptions } from './settings.ts'

/** What `everytick()` takes; a command fills in what is left out. */
export type Config = Partial<EverytickOptions>

/** Whose store is named elsewhere: `everytick({ ...config, store })`. */
export type ConfigWithJobs = Config & Pick<EverytickOptions, 'jobs'>

/** `export default defineConfig({ … })` in everytick.config.ts. With a store and jobs, `everytick()` takes what this returns. */
export function defineConfig(config: EverytickOptions): EverytickOptions
export function defineConfig(config: ConfigWithJobs): ConfigWithJobs
export function defineConfig(config: Config): Config
export function defineConfig(config: Config): Config {
  return config
}
