/** Types a configuration file; the CLI validates it when it loads it. */
import type { EverytickOptions } from './settings.ts'

/** The options of `everytick()`; CLI commands fill in missing ones. */
export type Config = Partial<EverytickOptions>

/** A configuration whose store is given elsewhere: `everytick({ ...config, store })`. */
export type ConfigWithJobs = Config & Pick<EverytickOptions, 'jobs'>

/** `export default defineConfig({ … })` in everytick.config.ts. With a store and jobs, you can pass the result to `everytick()`. */
export function defineConfig(config: EverytickOptions): EverytickOptions
export function defineConfig(config: ConfigWithJobs): ConfigWithJobs
export function defineConfig(config: Config): Config
export function defineConfig(config: Config): Config {
  return config
}
