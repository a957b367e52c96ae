/** Backfills as rows in Postgres: each step is written with its runs, and only from the version it saw; the steps are decided by `plan/backfill.ts`. */
import { type Json, toJsonText } from '../../json.ts'
import type { Backfill, BackfillProgress, BackfillStore, NewBackfill } from '../contract/backfills.ts'
import type { Connection } from './connection.ts'
import { createEnqueue } from './enqueue.ts'
import { instantAt, isId, msOf } from './rows.ts'
import { prepared, type Statement, unprepared, type Value, within } from './statement.ts'
import type { Wake } from './wake.ts'

interface Row {
  id: string
  schedule_id: string
  workspace: string
  key: string
  by: string
  from_at: number
  to_at: number
  concurrency: number
  force: boolean
  payload: Json
  total: number
  progress: BackfillProgress
  state: Backfill['state']
  created_at: number
  finished_at: number | null
  version: number
}

export function createBackfills(connection: Connection, wake: Wake, schema: string): BackfillStore {
  const enqueue = createEnqueue(schema)
  const [create, advance, cancel] = [createStatement(schema), advanceStatement(schema), cancelStatement(schema)]
  const get = getStatement(schema)
  const [list, listBetween] = [listStatement(schema), listBetweenStatement(schema)]
  const { ask, transact } = connection.api
  return {
    async create(backfill, tx) {
      await (tx ? within(tx) : ask)(create, valuesOf(backfill))
      if (tx) await wake.notifyWithin(within(tx), { kind: 'schedules' })
      else wake.tell({ kind: 'schedules' })
    },
    async get(id) {
      const [row] = isId(id) ? await ask<Row>(get, [id]) : []
      return row ? backfillOf(row) : null
    },
    async list({ scheduleId, workspace, state, ids, limit, omitPayload = false }) {
      if (scheduleId !== undefined && !isId(scheduleId)) return []
      const filter = [scheduleId ?? null, workspace ?? null, state ?? null]
      const rows = await (ids === undefined
        ? ask<Row>(list, [...filter, limit, omitPayload])
        : ask<Row>(listBetween, [...filter, limit, omitPayload, ids.from, ids.before ?? null]))
      return rows.map(backfillOf)
    },
    async advance(id, version, { progress, runs }) {
      if (!isId(id)) return false
      const advanced = await transact(async (ask) => {
        const values = [id, version, toJsonText(progress, { what: 'progress' }), progress.state]
        if ((await ask(advance, values)).length === 0) return false
        if (runs.length > 0) await enqueue(runs, ask)
        return true
      })
      if (advanced && runs.length > 0) wake.tell({ kind: 'runs', queues: [...new Set(runs.map(({ queue }) => queue))] })
      return advanced
    },
    async cancel(id) {
      return isId(id) && (await ask(cancel, [id])).length > 0
    },
  }
}

const valuesOf = (backfill: NewBackfill): Value[] => [
  ...[backfill.id, backfill.scheduleId, backfill.workspace, backfill.key, backfill.by, backfill.fromAt, backfill.toAt],
  ...[backfill.concurrency, backfill.force, toJsonText(backfill.payload, { what: 'payload' }), backfill.total],
  toJsonText(progressAtFirst(backfill), { what: 'progress' }),
]

const progressAtFirst = ({ fromAt }: NewBackfill): BackfillProgress => ({
  ...{ doneUntilAt: fromAt - 1, kept: 0, made: 0, succeeded: 0, failed: 0, cancelled: 0, open: [], state: 'running' },
})

function backfillOf(row: Row): Backfill {
  const { schedule_id, from_at, to_at, created_at, finished_at, progress, state, ...rest } = row
  const instants = { fromAt: from_at, toAt: to_at, createdAt: created_at, finishedAt: finished_at }
  return { ...rest, ...progress, ...instants, scheduleId: schedule_id, state }
}

const fields = (
  payload: string,
): string => `b.id, b.schedule_id, b.workspace, b.key, b.by, ${msOf('b.from_at')} as from_at,
  ${msOf('b.to_at')} as to_at, b.concurrency, b.force, ${payload}, b.total, b.progress, b.state,
  ${msOf('b.created_at')} as created_at, ${msOf('b.finished_at')} as finished_at, b.version`
const FIELDS = fields('b.payload')
/** Whether without payloads is the fifth parameter. */
const LISTED = fields(`case when not $5::boolean then b.payload end as payload`)

const createStatement = (schema: string): Statement =>
  prepared(`
insert into ${schema}.backfills (id, schedule_id, workspace, key, by, from_at, to_at, concurrency, force, payload, total,
  progress, state, created_at, version)
select $1::uuid, $2::uuid, $3::text, $4::text, $5::text, ${instantAt('$6::float8')}, ${instantAt('$7::float8')}, $8::int,
  $9::boolean, $10::text::jsonb, $11::bigint, $12::text::jsonb, 'running', ${schema}.now_at(), 1`)

const getStatement = (schema: string): Statement =>
  prepared(`select ${FIELDS} from ${schema}.backfills b where b.id = $1::uuid`)

const ASKED_FOR = `($1::uuid is null or b.schedule_id = $1::uuid) and ($2::text is null or b.workspace = $2::text)
  and ($3::text is null or b.state = $3::text)`

/** Planned for each question, as the filters ask for different indexes. */
const listStatement = (schema: string): Statement =>
  unprepared(`
select ${LISTED} from ${schema}.backfills b
where ${ASKED_FOR}
order by b.created_at desc, b.id desc
limit $4::int`)

/** By the primary key. */
const listBetweenStatement = (schema: string): Statement =>
  unprepared(`
select ${LISTED} from ${schema}.backfills b
where ${ASKED_FOR} and b.id >= $6::uuid and ($7::uuid is null or b.id < $7::uuid)
order by b.id desc
limit $4::int`)

const advanceStatement = (schema: string): Statement =>
  prepared(`
update ${schema}.backfills
set progress = $3::text::jsonb, state = $4::text, version = version + 1,
  finished_at = case when $4::text <> 'running' then ${schema}.now_at() end
where id = $1::uuid and version = $2::int and state = 'running'
returning id`)

const cancelStatement = (schema: string): Statement =>
  prepared(`
update ${schema}.backfills set state = 'cancelled', finished_at = ${schema}.now_at(), version = version + 1
where id = $1::uuid and state = 'running'
returning id`)
