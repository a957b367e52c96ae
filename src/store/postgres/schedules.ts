/** Schedules in Postgres: reads them, resumes and removes them; how they are created and changed is `put.ts`, and paused `pause.ts`. */
import type { Executor } from '../contract/executor.ts'
import type { ScheduleStore } from '../contract/schedules.ts'
import { createFind } from './find.ts'
import { NON_RUN, NON_RUN_FIELDS, nonRunValues, passedBy } from './non-runs.ts'
import type { Parts } from './parts.ts'
import { pauseStatement, pauseValues } from './pause.ts'
import { createPut } from './put.ts'
import { removeStatement } from './remove.ts'
import { lockStatement, lockWorkspaceStatement } from './retract.ts'
import { pauseIn, revise } from './revise.ts'
import { instantAt, SCHEDULE_FIELDS, type ScheduleRow, scheduleOf } from './rows.ts'
import { type Ask, listOf, plain, prepared, type Statement, texts, unprepared, within } from './statement.ts'
import { createClasses } from './timing-classes.ts'

export function createSchedules({ connection, wake, sharing, schema }: Parts): ScheduleStore {
  const put = createPut(schema)
  const lock = lockStatement(schema)
  const lockWorkspace = lockWorkspaceStatement(schema)
  const [get, list, pause, resume] = [getSql(schema), listSql(schema), pauseStatement(schema), resumeSql(schema)]
  const remove = removeStatement(schema)

  /** In the caller's transaction or in one of our own. */
  const transact = <Answer>(tx: Executor | undefined, work: (ask: Ask) => Promise<Answer>): Promise<Answer> =>
    tx ? work(within(tx)) : connection.api.transact(work)

  /** Says that a cursor may have moved: after our own commit, or as part of the caller's. */
  const hint = async (tx: Executor | undefined): Promise<void> => {
    if (tx) await wake.notifyWithin(within(tx), { kind: 'schedules' })
    else wake.tell({ kind: 'schedules' })
  }

  const lockOne = async (ask: Ask, workspace: string, key: string): Promise<string | null> => {
    const [found] = await ask<{ id: string }>(lock, [texts([workspace]), texts([key])])
    return found?.id ?? null
  }

  return {
    ...createFind(connection, schema),
    ...createClasses(connection, schema),
    async put(schedules, tx) {
      if (schedules.length === 0) return []
      const users = schedules.map(({ definition }) => definition)
      await sharing.note(users, tx ? 'transaction' : undefined)
      const answers = await (tx ? put.within(schedules, within(tx)) : put.alone(schedules, connection.api))
      if (answers.some(({ changed }) => changed)) await hint(tx)
      return answers
    },
    async get(workspace, key, tx) {
      const ask = tx ? within(tx) : connection.api.ask
      if (tx) await lockOne(ask, workspace, key)
      const [row] = await ask<ScheduleRow>(get, [workspace, key])
      return row ? scheduleOf(row) : null
    },
    async list({ workspace, source, limit, after }) {
      const values = [workspace ?? null, after?.workspace ?? null, after?.key ?? null, limit, source ?? null]
      return (await connection.api.ask<ScheduleRow>(list, values)).map(scheduleOf)
    },
    pause: (workspace, key, words, tx) =>
      transact(tx, async (ask) => {
        const id = await lockOne(ask, workspace, key)
        if (id !== null) await ask(pause, pauseValues(id, words))
        return id !== null
      }),
    async resume(workspace, key, { revision, expectedWatermarkAt, nextAt, watermarkAt, nonRuns, by }, tx) {
      const from = [workspace, key, revision, nextAt, watermarkAt, by, expectedWatermarkAt ?? null]
      const values = [...from, ...nonRunValues(nonRuns)]
      const resumed = await transact(tx, async (ask) => {
        // Locked first, so that the watermark that is compared is the one that stays.
        await lockOne(ask, workspace, key)
        return (await ask(resume, values)).length > 0
      })
      if (resumed) await hint(tx)
      return resumed
    },
    remove: (workspace, key, by, tx) =>
      transact(tx, async (ask) => {
        const id = await lockOne(ask, workspace, key)
        if (id !== null) await ask(remove, [plain([id]), by])
        return id !== null
      }),
    removeWorkspace: (workspace, by, tx) =>
      transact(tx, async (ask) => {
        const found = await ask<{ id: string }>(lockWorkspace, [workspace])
        if (found.length > 0) await ask(remove, [plain(found.map(({ id }) => id)), by])
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

const resumeSql = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
was as materialized (
  select * from ${schema}.schedules
  where workspace = $1::text and key = $2::text and revision = $3::int and pause is not null and (
    $7::float8 is null or (select watermark_at from ${schema}.cursors where schedule_id = id limit 1) = ${instantAt('$7::float8')}
  )
  for update
),
resumed as (
  update ${schema}.schedules set pause = null, updated_at = (select now from clock), updated_by = $6::text
  where id = (select id from was)
),
moved as (
  update ${schema}.cursors c
  set next_at = case when was.quarantine is null then ${instantAt('$4::float8')} end,
    watermark_at = greatest(c.watermark_at, ${instantAt('$5::float8')})
  from was where c.schedule_id = (select id from was)
  returning c.watermark_at
),${passedBy(schema, `select was.id as schedule_id, ${NON_RUN_FIELDS} from was cross join (${listOf(NON_RUN, 8)}) x`)},
revised as (${revise(
    schema,
    `select was.id, was.workspace, was.key, 'resumed', was.revision, clock.now, $6::text, moved.watermark_at,
    ${pauseIn('was.pause')}, ${pauseIn('null::jsonb')}
  from was cross join moved cross join clock`,
  )})
select id from was`)
