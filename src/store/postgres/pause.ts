/** The statement that pauses one schedule: it parks the cursor and retracts what was planned; whether the schedule is there and locked is the caller's matter. */
import { toJsonText } from '../../json.ts'
import type { Pause } from '../../schedule/schedule.ts'
import { loweredWatermark, retraction } from './retract.ts'
import { pauseIn, revise } from './revise.ts'
import { instantAt, msOf } from './rows.ts'
import { prepared, type Statement, type Value } from './statement.ts'

export const pauseValues = (id: string, words: Omit<Pause, 'at'>): Value[] => [id, toJsonText(words, { what: 'pause' })]

/** Here and when it is resumed, the cursor of a schedule that is set aside stays parked: only a change can cure it. */
export const pauseStatement = (schema: string): Statement =>
  prepared(`
with ${retraction(schema, 'select $1::uuid as id')},
words as materialized (
  select $2::text::jsonb || jsonb_build_object('at', ${msOf('(select now from clock)')}) as pause
),
was as materialized (select * from ${schema}.schedules where id = $1::uuid),
parked as (
  update ${schema}.cursors c
  set next_at = case when was.quarantine is null then ${instantAt("($2::text::jsonb ->> 'until')::float8")} end,
    watermark_at = ${loweredWatermark('c', 'b')}, run_count = c.run_count - coalesce(b.number, 0)
  from was left join back b on b.schedule_id = was.id
  where c.schedule_id = $1::uuid
  returning c.watermark_at
),
paused as (
  update ${schema}.schedules set pause = (select pause from words), updated_at = (select now from clock),
    updated_by = $2::text::jsonb ->> 'by'
  where id = $1::uuid
)
${revise(
  schema,
  `select was.id, was.workspace, was.key, 'paused', was.revision, (select now from clock), $2::text::jsonb ->> 'by',
  parked.watermark_at, ${pauseIn('was.pause')}, ${pauseIn('words.pause')}
from was cross join parked cross join words`,
)}`)
