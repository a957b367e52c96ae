/** How much there is, in SQLite, at any size in a few milliseconds: counted as far as that is quick, and beyond that reckoned from samples. */
import type { Sizes } from '../contract/stats.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'

/** Rows that are counted one by one. */
export const COUNT_ROWS = 10_000
/** So many places of a table are looked at, so many numbers from each on. */
const SAMPLES = 50
const SAMPLE_ROWS = 40

const KINDS = {
  schedules: { table: 'everytick_schedules', which: 'true' },
  paused: { table: 'everytick_schedules', which: 'pause is not null' },
  quarantined: { table: 'everytick_schedules', which: 'quarantine is not null' },
  liveRuns: { table: 'everytick_runs', which: 'true' },
  finishedRuns: { table: 'everytick_history', which: 'true' },
} as const
type Kind = keyof typeof KINDS

/** Runs have no index by workspace, so that it is the look that is bounded there. */
export function countOf(kind: Kind, isOne: boolean): string {
  const { table, which } = KINDS[kind]
  const isFound = table === 'everytick_schedules' && isOne
  return `
  select count(*) as looked, ${isOne && !isFound ? 'coalesce(sum(workspace = ?), 0)' : 'count(*)'} as many from (
    select ${isOne && !isFound ? 'workspace' : '1'} from ${table} where ${which} ${isFound ? 'and workspace = ?' : ''}
    limit ${COUNT_ROWS + 1})`
}

/** The unary plus keeps SQLite to the places. How many of the numbers that rows may have are those of rows that are meant, times how many numbers there are. */
export function guessOf(kind: Kind, isOne: boolean): string {
  const { table, which } = KINDS[kind]
  return `
  with span as materialized (select (select min(rowid) from ${table}) as low, (select max(rowid) from ${table}) as high),
  sample as (
    select low + value * (high - low) / ${SAMPLES} as at from span cross join (
      with recursive n(value) as (select 0 union all select value + 1 from n where value < ${SAMPLES - 1}) select value from n))
  select cast(round((high - low + 1.0) * (
    select sum((select count(*) from ${table}
      where rowid >= at and rowid < at + ${SAMPLE_ROWS} and +${which} ${isOne ? 'and +workspace = ?' : ''}))
    from sample) / ${SAMPLES * SAMPLE_ROWS}) as integer) as many
  from span`
}

export function sizes(connection: Connection, workspace?: string): Promise<Sizes> {
  const isOne = workspace !== undefined
  const values: Value[] = isOne ? [workspace] : []
  return connection.read(() => {
    let estimated = false
    const sizeOf = (kind: Kind): number => {
      const [counted] = connection.all<{ looked: number; many: number }>(countOf(kind, isOne), ...values)
      if (counted!.looked <= COUNT_ROWS) return counted!.many
      estimated = true
      return connection.all<{ many: number }>(guessOf(kind, isOne), ...values)[0]!.many
    }
    const [schedules, paused, quarantined] = [sizeOf('schedules'), sizeOf('paused'), sizeOf('quarantined')]
    const runs = { liveRuns: sizeOf('liveRuns'), finishedRuns: sizeOf('finishedRuns') }
    return { schedules, paused, quarantined, ...runs, estimated }
  })
}
