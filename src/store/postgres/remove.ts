/** The SQL that removes schedules, which the caller has locked, with all that was planned ahead; which ones is decided by the verbs. */
import { loweredWatermark, retraction } from './retract.ts'
import { definitionIn, revise } from './revise.ts'
import { prepared, type Statement } from './statement.ts'

/** Of their ids, and by whom. */
export const removeStatement = (schema: string): Statement =>
  prepared(`
with asked as materialized (select unnest($1::text::uuid[]) as id),${retraction(schema, 'select id from asked')},
cursor as (
  delete from ${schema}.cursors where schedule_id = any(array(select id from asked)) returning schedule_id, watermark_at
),
removed as (
  delete from ${schema}.schedules s where s.id = any(array(select id from asked))
  returning s.id, s.workspace, s.key, s.revision, ${definitionIn('s')} as definition
)
${revise(
  schema,
  `select r.id, r.workspace, r.key, 'removed', r.revision, (select now from clock), $2::text,
  ${loweredWatermark('c', 'b')}, r.definition, 'null'
from removed r join cursor c on c.schedule_id = r.id left join back b on b.schedule_id = r.id`,
)}`)
