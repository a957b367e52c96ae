/** The lines of runs in Postgres, written many at a time; how many a run may have is decided by `engine/run-log.ts`. */
import { type Json, toJsonText } from '../../json.ts'
import type { LogLine, LogStore } from '../contract/logs.ts'
import { storableText } from '../storable-text.ts'
import type { Connection } from './connection.ts'
import { instantAt, isId, msOf } from './rows.ts'
import { plain, prepared, type Statement, texts } from './statement.ts'

interface Row extends Omit<LogLine, 'runId' | 'data'> {
  readonly run_id: string
  readonly data: Json
}

export function createLogs(connection: Connection, schema: string): LogStore {
  const [append, read, bounded] = [appendStatement(schema), readStatement(schema), boundedStatement(schema)]
  const { ask } = connection.api
  /** So many lines are more than a walk through them should have, so that the sizes are summed instead. */
  const readBounded = (runId: string, page: { after: number; limit: number; maxBytes: number }): Promise<Row[]> =>
    ask<Row>(bounded, [runId, page.after, page.limit, page.maxBytes])
  return {
    async append(lines) {
      if (lines.length === 0) return
      await ask(append, [
        plain(lines.map(({ runId }) => runId)),
        plain(lines.map(({ attempt }) => attempt)),
        plain(lines.map(({ at }) => at)),
        plain(lines.map(({ level }) => level)),
        texts(lines.map(({ message }) => storableText(message))),
        texts(lines.map(({ data }) => (data === null ? null : toJsonText(data, { what: 'the data of a line' })))),
      ])
    },
    async read(runId, { after = 0, limit, maxBytes }) {
      if (!isId(runId)) return []
      const rows =
        maxBytes === undefined
          ? await ask<Row>(read, [runId, after, limit])
          : await readBounded(runId, { after, limit, maxBytes })
      return rows.map(({ run_id, ...rest }) => ({ ...rest, runId: run_id }))
    },
  }
}

const appendStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now)
insert into ${schema}.logs (stored_at, run_id, attempt, at, level, message, data)
select clock.now, line.run_id, line.attempt, ${instantAt('line.at')}, line.level, line.message, line.data::json
from clock, unnest($1::text::uuid[], $2::text::int[], $3::text::float8[], $4::text::text[], $5::text::text[], $6::text::text[])
  with ordinality as line (run_id, attempt, at, level, message, data, place)
order by line.place`)

export const readStatement = (schema: string): Statement =>
  prepared(`
select l.seq, l.run_id, l.attempt, ${msOf('l.at')} as at, l.level, l.message, l.data from ${schema}.logs l
where l.run_id = $1::uuid and l.seq > $2::bigint order by l.seq limit $3::int`)

/** The sizes are summed in the database, which keeps of each line only its size until it is known to fit. */
const boundedStatement = (schema: string): Statement =>
  prepared(`
with sized as (
  select l.seq, sum(octet_length(l.message) + coalesce(octet_length(l.data::text), 0)) over (order by l.seq) as bytes,
    row_number() over (order by l.seq) as place
  from (select * from ${schema}.logs where run_id = $1::uuid and seq > $2::bigint order by seq limit $3::int) l
)
select l.seq, l.run_id, l.attempt, ${msOf('l.at')} as at, l.level, l.message, l.data
from sized join ${schema}.logs l on l.run_id = $1::uuid and l.seq = sized.seq
where sized.place = 1 or sized.bytes <= $4::bigint
order by l.seq`)
