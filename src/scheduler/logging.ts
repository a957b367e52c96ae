/** Chooses which facts become log lines, and where lines go when the user named no logger; listeners are `events.ts`. */
import type { Fact } from '../observe/fact.ts'
import type { Logger, LogLevel } from '../observe/logger.ts'
import type { Run } from '../run/run.ts'

const print =
  (level: 'info' | 'warn' | 'error') =>
  (message: string, data?: unknown): void => {
    if (data === undefined) console[level](message)
    else console[level](message, data)
  }

/** Everything but `debug`, on the console. */
export const consoleLogger: Logger = Object.freeze({
  debug: () => {},
  info: print('info'),
  warn: print('warn'),
  error: print('error'),
})

export interface Line {
  readonly level: LogLevel
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What somebody should look at, and what handlers say; that runs start and succeed is what the rows are for. */
export function lineOf(fact: Fact): Line | null {
  switch (fact.kind) {
    case 'run.log':
      return line(fact.level, fact.message, {
        ...about(fact.run),
        ...(fact.data === undefined ? {} : { data: fact.data }),
      })
    case 'run.failed': {
      // What a target kept of the answer it got is for those who may see results, not for every log.
      const { detail: _, ...error } = fact.error
      const data = { ...about(fact.run), error }
      return line('error', `job "${fact.run.job}" failed: ${fact.error.message}`, data)
    }
    case 'run.again': {
      if (fact.error === null) return null
      const message = `job "${fact.run.job}" is tried again in ${fact.delayMs} ms: ${fact.error.message}`
      return line('warn', message, about(fact.run))
    }
    case 'run.refused':
      return line('warn', `a late result of job "${fact.run.job}" was not accepted`, about(fact.run))
    case 'run.lease_lost':
      return line('warn', `job "${fact.run.job}" lost its lease and was told to stop`, about(fact.run))
    case 'job.unknown': {
      const message = `job "${fact.run.job}" is not known to this worker; its run went back to the queue`
      return line('warn', message, about(fact.run))
    }
    case 'schedule.quarantined':
      return line('error', `schedule "${fact.key}" was set aside: ${fact.message}`, { code: fact.code })
    case 'schedule.paused':
      return line('error', `schedule "${fact.key}" was paused: ${fact.reason}`, { workspace: fact.workspace })
    case 'engine.error':
      return line('error', `${fact.where} failed and is tried again in ${fact.retryInMs} ms`, { error: fact.error })
    default:
      return null
  }
}

const line = (level: LogLevel, message: string, data: Line['data']): Line => ({ level, message, data })

const about = (run: Run): Record<string, unknown> => ({
  run: run.id,
  attempt: run.attempt,
  workspace: run.workspace,
  ...(run.schedule === null ? {} : { schedule: run.schedule.key }),
})
