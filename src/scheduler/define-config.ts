/** Gives a configuration file its types; what it says is judged where it is loaded. */
import type { DeclaredSchedule, ScheduleOptions } from '../schedule-definition.ts'
import type { EverytickOptions } from './settings.ts'

/** What `everytick()` takes; a command fills in what is left out. Schedules may be plain objects, as in JSON. */
export interface Config extends Partial<Omit<EverytickOptions, 'schedules'>> {
  readonly schedules?: readonly (DeclaredSchedule | ScheduleOptions)[]
}

/** `export default defineConfig({ … })` in everytick.config.ts. */
export const defineConfig = (config: Config): Config => config
