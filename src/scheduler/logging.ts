/** Chooses which facts become log lines; where lines go is `loggers.ts`, listeners are `events.ts`. */

import type { EngineEvent } from '../observe/engine-event.ts'
import type { FailureLine } from '../observe/error-throttle.ts'
import type { LogLevel } from '../observe/logger.ts'
import type { Run } from '../run/run.ts'

type Failure = Extract<EngineEvent, { kind: 'engine.error' }>

/** More of one kind are counted, not named. */
const MAX_NAMED = 5

export interface Line {
  readonly level: LogLevel
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What somebody should look at, and what handlers say; that runs start and succeed is what the rows are for. */
export function lineOf(fact: EngineEvent): Line | null {
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
    case 'run.retry': {
      // What was given back uncounted follows from something that is logged itself.
      if (fact.error === null || fact.reason === 'released') return null
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
    case 'store.failed_over': {
      const { mayHaveLost, from, to, cause } = fact.failover
      const [after, until] = [new Date(from).toISOString(), new Date(to).toISOString()]
      return mayHaveLost
        ? line('error', `the database failed over: writes acknowledged from ${after} to ${until} may be missing`, {
            cause,
          })
        : line('warn', 'the database failed over to a synchronous standby: no acknowledged write is missing', { cause })
    }
    case 'schedule.paused':
      return line('error', `schedule "${fact.key}" was paused: ${fact.reason}`, { workspace: fact.workspace })
    case 'stop.incomplete': {
      const { interrupted, unwritten, drainMs } = fact
      const message = `stopped before all work had ended: ${interrupted.length} runs took longer than ${drainMs} ms, ${unwritten.length} results could not be written`
      return line('warn', message, { jobs: [...new Set(interrupted.map(({ job }) => job))].slice(0, MAX_NAMED) })
    }
    case 'schedules.changed': {
      const { action, count, names, by } = fact
      return line('info', `${count === 1 ? 'schedule' : `${count} schedules`} ${action}`, { schedules: names, by })
    }
    case 'schedule.planned':
      return fact.runs === 0 ? null : line('debug', `planned ${fact.runs} runs`, { stale: fact.stale })
    case 'schedule.missed':
      return line('warn', `${fact.count} occurrences were recorded as missed`, {})
    case 'leadership.changed': {
      if (fact.task === 'planner')
        return line('info', `this process ${fact.leads ? 'plans now' : 'no longer plans'}`, {})
      return line(
        'debug',
        `this process ${fact.leads ? 'does' : 'no longer does'} the background task "${fact.task}"`,
        {},
      )
    }
    case 'retention.removed':
      return line('info', `removed ${fact.count} rows that were older than their retention`, {})
    default:
      return null
  }
}

/** The line of a failure; how often one is written is decided by the throttle. */
export function failureLine({ where, error, retryInMs }: Failure, due: FailureLine): Line {
  if (due.kind === 'first') {
    const next = retryInMs > 0 ? ` and is tried again in ${retryInMs} ms` : ''
    return line('error', `${where} failed${next}`, { error })
  }
  const { message } = error instanceof Error ? error : new Error(String(error))
  return line('error', `${where} still fails: ${message}`, { unlogged: due.unlogged })
}

export const recoveryLine = (where: string): Line => line('info', `${where} works again`, {})

const line = (level: LogLevel, message: string, data: Line['data']): Line => ({ level, message, data })

const about = (run: Run): Record<string, unknown> => ({
  run: run.id,
  attempt: run.attempt,
  workspace: run.workspace,
  ...(run.schedule === null ? {} : { schedule: run.schedule.key }),
})
