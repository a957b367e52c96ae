/** Schedules in Postgres: reads them, pauses, resumes and removes them; how they are created and changed is `put.ts`. */
import { toJsonText } from '../../json.ts'
import type { Executor } from '../contract/executor.ts'
import type { ScheduleStore } from '../contract/schedules.ts'
import type { Connection } from './connection.ts'
import { createPut } from './put.ts'
import { lockStatement, lockWorkspaceStatement, retraction } from './retract.ts'
import { instantAt, msOf, SCHEDULE_FIELDS, type ScheduleRow, scheduleOf } from './rows.ts'
import { type Ask, plain, prepared, type Statement, texts, unprepared, within } from './statement.ts'
import type { Wake } from './wake.ts'

export function createSchedules(connection: Connection, wake: Wake, schema: string): ScheduleStore {
  const put = createPut(schema)
  const lock = lockStatement(schema)
  const lockWorkspace = lockWorkspaceStatement(schema)
  const [get, list, pause, resume] = [getSql(schema), listSql(schema), pauseSql(schema), resumeSql(schema)]
  const remove = removeSql(schema)

  /** In the caller's transaction or in one of our own. */
  const transact = <Answer>(tx: Executor | undefined, work: (ask: Ask) => Promise<Answer>): Promise<Answer> =>
    tx ? work(within(tx)) : connection.api.transact(work)

  /** Says that a cursor may have moved: after our own commit, or as part of the caller's. */
  const hint = async (tx: Executor | undefined): Promise<void> => {
    if (tx) await wake.tellWithin(within(tx), { kind: 'schedules' })
    else wake.tell({ kind: 'schedules' })
  }

  const lockOne = async (ask: Ask, workspace: string, key: string): Promise<string | null> => {
    const [found] = await ask<{ id: string }>(lock, [texts([workspace]), texts([key])])
    return found?.id ?? null
  }

  return {
    async put(schedules, tx) {
      if (schedules.length === 0) return []
      const answers = await transact(tx, (ask) => put(schedules, ask))
      if (answers.some(({ changed }) => changed)) await hint(tx)
      return answers
    },
    async get(workspace, key) {
      const [row] = await connection.api.ask<ScheduleRow>(get, [workspace, key])
      return row ? scheduleOf(row) : null
    },
    async list({ workspace, source, limit, after }) {
      const values = [workspace ?? null, after?.workspace ?? null, after?.key ?? null, limit, source ?? null]
      return (await connection.api.ask<ScheduleRow>(list, values)).map(scheduleOf)
    },
    pause: (workspace, key, words, tx) =>
      transact(tx, async (ask) => {
        const id = await lockOne(ask, workspace, key)
        if (id !== null) await ask(pause, [id, toJsonText(words, { what: 'pause' })])
        return id !== null
      }),
    async resume(workspace, key, { revision, nextAt, watermarkAt, nonRuns }, tx) {
      const values = [workspace, key, revision, nextAt, watermarkAt]
      const ranges = [
        plain(nonRuns.map(({ fromAt }) => fromAt)),
        plain(nonRuns.map(({ toAt }) => toAt)),
        plain(nonRuns.map(({ count }) => count)),
        texts(nonRuns.map(({ state }) => state)),
        texts(nonRuns.map(({ reason }) => reason)),
      ]
      const ask = tx ? within(tx) : connection.api.ask
      const resumed = (await ask(resume, [...values, ...ranges])).length > 0
      if (resumed) await hint(tx)
      return resumed
    },
    remove: (workspace, key, tx) =>
      transact(tx, async (ask) => {
        const id = await lockOne(ask, workspace, key)
        if (id !== null) await ask(remove, [plain([id])])
        return id !== null
      }),
    removeWorkspace: (workspace, tx) =>
      transact(tx, async (ask) => {
        const found = await ask<{ id: string }>(lockWorkspace, [workspace])
        if (found.length > 0) await ask(remove, [plain(found.map(({ id }) => id))])
        return found.length
      }),
  }
}

const getSql = (schema: string): Statement =>
  prepared(`
select ${SCHEDULE_FIELDS} from ${schema}.schedules s join ${schema}.cursors c on c.schedule_id = s.id
where s.workspace = $1::text and s.key = $2::text`)

const listSql = (schema: string): Statement =>
  unprepared(`
select ${SCHEDULE_FIELDS}
from (
  select * from ${schema}.schedules
  where ($1::text is null or workspace = $1::text) and ($5::text is null or source = $5::text)
    and ($2::text is null or (workspace, key) > ($2::text, $3::text))
  order by workspace, key
  limit $4::int
) s join ${schema}.cursors c on c.schedule_id = s.id
order by s.workspace, s.key`)

/** Here and when it is resumed, the cursor of a schedule that is set aside stays parked: only a change can cure it. */
const pauseSql = (schema: string): Statement =>
  prepared(`
with ${retraction(schema, 'select $1::uuid as id')},
parked as (
  update ${schema}.cursors c
  set next_at = case when s.quarantine is null then ${instantAt("($2::text::jsonb ->> 'until')::float8")} end,
    watermark_at = least(c.watermark_at, (select now from clock))
  from ${schema}.schedules s where s.id = $1::uuid and c.schedule_id = $1::uuid
)
update ${schema}.schedules
set pause = $2::text::jsonb || jsonb_build_object('at', ${msOf('(select now from clock)')}), updated_at = (select now from clock)
where id = $1::uuid`)

const resumeSql = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
resumed as (
  update ${schema}.schedules set pause = null, updated_at = (select now from clock)
  where workspace = $1::text and key = $2::text and revision = $3::int and pause is not null
  returning id, quarantine
),
moved as (
  update ${schema}.cursors c
  set next_at = case when resumed.quarantine is null then ${instantAt('$4::float8')} end,
    watermark_at = greatest(c.watermark_at, ${instantAt('$5::float8')})
  from resumed where c.schedule_id = resumed.id
),
passed as (
  insert into ${schema}.non_runs (schedule_id, from_at, to_at, count, state, reason, recorded_at)
  select resumed.id, ${instantAt('x.from_ms')}, ${instantAt('x.to_ms')}, x.count, x.state, x.reason, clock.now
  from resumed cross join clock cross join unnest($6::text::float8[], $7::text::float8[], $8::text::float8[], $9::text::text[],
    $10::text::text[]) as x (from_ms, to_ms, count, state, reason)
)
select id from resumed`)

const removeSql = (schema: string): Statement =>
  prepared(`
with removed as materialized (select unnest($1::text::uuid[]) as id),${retraction(schema, 'select id from removed')},
cursor as (delete from ${schema}.cursors where schedule_id = any(array(select id from removed)))
delete from ${schema}.schedules where id = any(array(select id from removed))`)
