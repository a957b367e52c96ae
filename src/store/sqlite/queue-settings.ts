/** What the row of a queue says about claims, and what runs in it now; how much that allows is decided by `run/queue-limits.ts`. */
import { allowance, isLimited, type QueueLimits, type RateLog } from '../../run/queue-limits.ts'
import type { Connection } from './connection.ts'

export interface QueueSettings {
  readonly paused: boolean
  readonly limits: QueueLimits
  readonly log: RateLog
}

/** Unfinished claims of a queue, by workspace. */
export type Running = ReadonlyMap<string, number>

export const SETTINGS = `
  select name, limits, pause is not null as paused, rate_log from everytick_queues
  where name in (select value from json_each(?))`
// Only running ones are in this index, and it has all that is asked for.
export const RUNNING = `
  select workspace, count(*) as count from everytick_runs indexed by everytick_runs_lease
  where state = 'running' and queue = ? group by workspace`
const SAVE_LOG = `update everytick_queues set rate_log = ? where name = ?`

interface SettingsRow {
  readonly name: string
  readonly limits: string
  readonly paused: number
  readonly rate_log: string
}

/** Queues without a row have no limits; those of which all limits were lifted count as such. */
export function settingsOf(connection: Connection, names: readonly string[]): Map<string, QueueSettings> {
  const rows = connection.all<SettingsRow>(SETTINGS, JSON.stringify(names))
  return new Map(
    rows.map(({ name, limits, paused, rate_log }) => {
      const log = JSON.parse(rate_log) as RateLog
      return [name, { paused: paused === 1, limits: JSON.parse(limits) as QueueLimits, log }]
    }),
  )
}

export function saveLog(connection: Connection, name: string, log: RateLog): void {
  connection.run(SAVE_LOG, JSON.stringify(log), name)
}

/** How many more, and when more again; null when nothing limits the queue. */
export interface Capacity {
  readonly limit: number
  readonly againAt: number | null
  readonly running: Running
}

export function capacityIn(
  connection: Connection,
  settings: QueueSettings | undefined,
  { queue, wanted, now }: { queue: string; wanted: number; now: number },
): Capacity | null {
  if (settings === undefined || !isLimited(settings.limits)) return null
  const { globalConcurrency, perWorkspace } = settings.limits
  const counts = globalConcurrency !== undefined || perWorkspace !== undefined
  const rows = counts ? connection.all<{ workspace: string; count: number }>(RUNNING, queue) : []
  const running = new Map(rows.map(({ workspace, count }) => [workspace, count]))
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  return { ...allowance(settings.limits, { wanted, running: total, log: settings.log, now }), running }
}
