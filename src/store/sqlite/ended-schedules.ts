/** Finds schedules in SQLite that are over and may be forgotten, a bounded number of rows at a time; removing them is `park.ts`. */
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'

/** Rows of the index that one step looks at. Paused and quarantined schedules stand in it too, and are passed over. */
export const SCAN_ROWS = 500

interface Place {
  readonly watermark_at: number
  readonly schedule_id: string
}

interface Row extends Place {
  readonly ended: 0 | 1
}

export const ENDED = `
  select c.watermark_at, c.schedule_id, (
    s.pause is null and s.quarantine is null and s.source = 'api' and s.updated_at < ?1
    and not exists (select 1 from everytick_runs
      where schedule_id = s.id and scheduled_at is not null and trigger <> 'backfill')
    and not exists (select 1 from everytick_runs
      where schedule_id = s.id and scheduled_at is not null and trigger = 'backfill')
    and not exists (select 1 from everytick_backfills where schedule_id = s.id and state = 'running')) as ended
  from everytick_cursors c cross join everytick_schedules s on s.id = c.schedule_id
  where c.next_at is null and c.watermark_at < ?1 and (c.watermark_at, c.schedule_id) > (?2, ?3)
  order by c.watermark_at, c.schedule_id limit ?4`

/** No limit. */
const ALL = -1
const COUNT = `select count(*) as rows from (${ENDED}) where ended`

export interface EndedSchedules {
  /** Those over since before `untilAt`, as a condition on schedules; each call goes on where the one before ended. */
  next(untilAt: number): { readonly where: string; readonly values: Value[] }
  /** All of them. */
  count(untilAt: number): Promise<number>
}

export function endedSchedules(connection: Connection): EndedSchedules {
  const start: Place = { watermark_at: Number.MIN_SAFE_INTEGER, schedule_id: '' }
  let after = start
  return {
    next(untilAt) {
      const rows = connection.all<Row>(ENDED, untilAt, after.watermark_at, after.schedule_id, SCAN_ROWS)
      after = rows.length === SCAN_ROWS ? rows.at(-1)! : start
      const ids = rows.flatMap((row) => (row.ended === 1 ? [row.schedule_id] : []))
      return { where: 'id in (select value from json_each(?))', values: [JSON.stringify(ids)] }
    },
    async count(untilAt) {
      const [row] = await connection.read(() =>
        connection.all<{ rows: number }>(COUNT, untilAt, start.watermark_at, start.schedule_id, ALL),
      )
      return row!.rows
    },
  }
}
