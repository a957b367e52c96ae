/** Creates the app of a configuration on the chosen database; the command starts it. */
import type { Job } from '../job.ts'
import type { EverytickOptions } from '../scheduler/settings.ts'
import { type Everytick, everytick } from '../scheduler.ts'
import { whereabouts } from './config.ts'
import { inFile, type LoadedConfig, optionsOf } from './config-file.ts'
import { alongside } from './target-jobs.ts'
import { UsageError } from './usage-error.ts'

export interface AppWishes {
  /** The value of --db; else DATABASE_URL, else the store of the file. */
  readonly db?: string | undefined
  /** Defaults for options that the file does not set. */
  readonly defaults?: Partial<EverytickOptions>
  /** Overrides for options of the file. */
  readonly overrides?: Partial<EverytickOptions>
  /** Jobs in addition to those of the file. */
  readonly jobs?: readonly Job[]
}

export function configuredApp(loaded: LoadedConfig, wishes: AppWishes): Everytick {
  const { db, defaults = {}, overrides = {}, jobs = [] } = wishes
  const { app, file } = loaded
  if (app) {
    const [job] = jobs
    const [override] = Object.keys(overrides)
    const refused = db === undefined ? (OPTIONS[override ?? ''] ?? override ?? (job && optionOf(job))) : 'db'
    if (refused === undefined) return app
    throw new UsageError(`${file} exports an app, which --${refused} cannot change`, {
      hint: `leave out --${refused}, or export the options of the app with defineConfig`,
    })
  }
  const said = db ?? whereabouts().db
  const options = optionsOf(loaded, said === undefined ? {} : { said })
  const all = alongside(options.jobs, jobs)
  return inFile(file, () => everytick({ ...defaults, ...options, jobs: all, ...overrides }))
}

/** CLI options that have another name in code. */
const OPTIONS: Readonly<Record<string, string>> = { logger: 'log-format or --log-level' }

const optionOf = ({ name }: Job): string => (name === 'command' ? 'allow-command' : name)
