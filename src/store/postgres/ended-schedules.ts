/** Removes schedules from Postgres that are over, a bounded number of rows at a time; what goes with a schedule is `remove.ts`. */
import type { Connection } from './connection.ts'
import { removeStatement } from './remove.ts'
import { lockStatement } from './retract.ts'
import { FIRST_ID, instantAt, msOf, spanOf } from './rows.ts'
import { plain, prepared, type Statement, texts } from './statement.ts'

/** Rows of the index that one step looks at. Paused and quarantined schedules stand in it too, and are passed over. */
export const SCAN_ROWS = 500

interface Place {
  readonly at: number
  readonly id: string
}

interface Row extends Place {
  readonly workspace: string
  readonly key: string
  readonly ended: boolean
}

const START: Place = { at: Date.parse('0001-01-01T00:00:00Z'), id: FIRST_ID }

export interface EndedSchedules {
  /** Returns how many it removed; each call goes on where the one before ended. */
  remove(endedMs: number): Promise<number>
  count(endedMs: number): Promise<number>
}

export function createEndedSchedules(connection: Connection, schema: string): EndedSchedules {
  const [look, again] = [overStatement(schema, 'look'), overStatement(schema, 'retry')]
  const [lock, removal] = [lockStatement(schema), removeStatement(schema)]
  const all = countStatement(schema)
  let after = START
  const remove = async (endedMs: number): Promise<number> => {
    const rows = await connection.api.ask<Row>(look, [endedMs, after.at, after.id])
    after = rows.length === SCAN_ROWS ? rows.at(-1)! : START
    // In the order in which everybody locks them.
    const found = rows.filter(({ ended }) => ended).sort(byName)
    if (found.length === 0) return 0
    return connection.api.transact(async (ask) => {
      const keys = [texts(found.map(({ workspace }) => workspace)), texts(found.map(({ key }) => key))]
      const locked = await ask<{ id: string }>(lock, keys)
      // Somebody may have changed one since it was found.
      const still = await ask<Row>(again, [endedMs, plain(locked.map(({ id }) => id))])
      const ids = still.filter(({ ended }) => ended).map(({ id }) => id)
      if (ids.length > 0) await ask(removal, [plain(ids), 'everytick'])
      return ids.length
    })
  }
  return {
    remove,
    async count(endedMs) {
      const [found] = await connection.api.ask<{ rows: number }>(all, [endedMs, START.at, START.id])
      return found!.rows
    },
  }
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
const byName = (a: Row, b: Row): number => compare(a.workspace, b.workspace) || compare(a.key, b.key)

/** `look`: from a place on, in the order of the index. `again`: those of these ids. */
export const overStatement = (schema: string, which: 'look' | 'retry'): Statement =>
  prepared(`${overText(schema, which)} limit ${SCAN_ROWS}`)

const countStatement = (schema: string): Statement =>
  prepared(`select count(*) as rows from (${overText(schema, 'look')}) over where ended`)

const overText = (schema: string, which: 'look' | 'retry'): string => {
  const before = `(select ${schema}.now_at()) - ${spanOf('$1::float8')}`
  // As a value of one row and not as "not exists", for which the server may read the whole table once.
  const none = (of: string): string => `(select true from ${schema}.${of} limit 1) is null`
  const live = (trigger: string): string =>
    none(`runs r where r.schedule_id = s.id and r.scheduled_at is not null and r.trigger ${trigger}`)
  const where =
    which === 'look'
      ? `(c.watermark_at, c.schedule_id) > (${instantAt('$2::float8')}, $3::uuid)`
      : 'c.schedule_id = any($2::text::uuid[])'
  return `
select s.id, s.workspace, s.key, ${msOf('c.watermark_at')} as at, (
  s.pause is null and s.quarantine is null and s.source = 'api' and s.updated_at < ${before}
  and ${live("<> 'backfill'")} and ${live("= 'backfill'")}
  and ${none(`backfills b where b.schedule_id = s.id and b.state = 'running'`)}
) as ended
from ${schema}.cursors c cross join lateral (
  select * from ${schema}.schedules where id = c.schedule_id limit 1
) s
where c.next_at is null and c.watermark_at < ${before} and ${where}
order by c.watermark_at, c.schedule_id`
}
