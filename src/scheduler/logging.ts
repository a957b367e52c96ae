/** Chooses which engine events become log lines; `loggers.ts` writes them, `events.ts` calls listeners. */

import type { EngineEvent } from '../observe/engine-event.ts'
import type { FailureLine } from '../observe/error-throttle.ts'
import type { LogLevel } from '../observe/logger.ts'
import type { Run } from '../run/run.ts'

type Failure = Extract<EngineEvent, { kind: 'engine.error' }>

/** The most jobs that one line names. */
const MAX_NAMED = 5

export interface Line {
  readonly level: LogLevel
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Logs what needs attention and what handlers log; starts and successes of runs are only in the store. */
export function lineOf(fact: EngineEvent): Line | null {
  switch (fact.kind) {
    case 'run.log':
      return line(fact.level, fact.message, {
        ...about(fact.run),
        ...(fact.data === undefined ? {} : { data: fact.data }),
      })
    case 'run.failed': {
      // The detail may contain the response of a target, which only users who may see results should see.
      const { detail: _, ...error } = fact.error
      const data = { ...about(fact.run), error }
      return line('error', `job "${fact.run.job}" failed: ${fact.error.message}`, data)
    }
    case 'run.retry': {
      // A released run follows from an event that has its own line.
      if (fact.error === null || fact.reason === 'released') return null
      const message = `job "${fact.run.job}" failed and is retried in ${fact.delayMs} ms: ${fact.error.message}`
      return line('warn', message, about(fact.run))
    }
    case 'run.refused':
      return line('warn', `a late result of job "${fact.run.job}" was rejected: its lease was lost`, about(fact.run))
    case 'run.lease_lost':
      return line('warn', `job "${fact.run.job}" lost its lease and was aborted`, about(fact.run))
    case 'job.unknown': {
      const message = `this worker has no job "${fact.run.job}"; it returned the run to the queue`
      return line('warn', message, about(fact.run))
    }
    case 'schedule.quarantined':
      return line('error', `schedule "${fact.key}" cannot be planned and is now in quarantine: ${fact.message}`, {
        code: fact.code,
      })
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
      const message = `stopped before all runs had ended: ${interrupted.length} runs took longer than ${drainMs} ms, ${unwritten.length} results could not be written`
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
        return line('info', `this process ${fact.leads ? 'now plans schedules' : 'no longer plans schedules'}`, {})
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

/** The line of a failure; the throttle decides how often one is written. */
export function failureLine({ where, error, retryInMs }: Failure, due: FailureLine): Line {
  if (due.kind === 'first') {
    const next = retryInMs > 0 ? ` and is retried in ${retryInMs} ms` : ''
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
