/** The SQL by which schedules are created, compared and changed, a batch at a time; in which order is `put.ts`, and as what they travel `put-list.ts`. */
import { passedBy } from './non-runs.ts'
import { givenWith, PARTS, TEXTS } from './put-list.ts'
import { loweredWatermark, retraction } from './retract.ts'
import { definitionIn, revise } from './revise.ts'
import { instantAt, msOf } from './rows.ts'
import { MANY, prepared, type Statement } from './statement.ts'

const GIVEN = givenWith('text')
/** Of a batch so many are looked for before it is taken for new. */
const LOOKED_FOR = 20

const listIn = (of: string, textAs: 'text' | 'jsonb'): string =>
  PARTS.map((part) => (TEXTS.includes(part) ? `${of}.${part}::${textAs}` : `${of}.${part}`)).join(', ')
const differsAs = (textAs: 'text' | 'jsonb'): string =>
  `(${listIn('g', textAs)}) is distinct from (${listIn('s', textAs)})`

/** As values, where the texts are not the same: the order of keys in JSON is nobody's intention. */
const DIFFERS = `(${differsAs('text')} and ${differsAs('jsonb')})`

const stored = (schema: string): string => `
  select * from ${schema}.schedules where workspace = g.workspace and key = g.key limit 1`

const cursorOf = (schema: string): string => `
  select next_at from ${schema}.cursors where schedule_id = s.id limit 1`

const create = (schema: string): string => `
  insert into ${schema}.schedules (id, workspace, key, revision, ${PARTS.join(', ')}, created_at, created_by, updated_at,
    updated_by, since_at)
  select g.id, g.workspace, g.key, 1, ${PARTS.map((part) => `g.${part}`).join(', ')}, clock.now, g.by, clock.now,
    g.by, g.watermark_at
  from given g cross join clock`

const begin = (schema: string): string => `
  insert into ${schema}.cursors (schedule_id, next_at, watermark_at, planned_at, revision)
  select g.id, g.next_at, g.watermark_at, g.watermark_at, 1`

/**
 * For those that nobody saw, and that are mostly all new or all there, on a connection of our own. A few are looked for:
 * where one is there, it answers which are, and where none is, it creates all. One that is there all the same, or is created
 * meanwhile, makes it fail, and then nothing of it was written. Rows come as the list has them, in order of their keys; should
 * a plan ever mix them up, two that wait for each other are tried again.
 */
export const freshStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),${givenWith('bytes')},
known as materialized (
  select from given g cross join lateral (${stored(schema)}) s
  where g.n % (1 + (select count(*) from given) / ${LOOKED_FOR}) = 0 limit 1
),
there as materialized (
  select g.n, s.id, s.revision, c.next_at, ${DIFFERS} as differs
  from given g cross join lateral (${stored(schema)}) s cross join lateral (${cursorOf(schema)}) c
  where exists (select from known)
),
created as (${create(schema)} where not exists (select from known)),
begun as (${begin(schema)} from given g where not exists (select from known))
select n, id, false as created, false as changed, differs, revision, ${msOf('next_at')} as next_at from there`)

/** For those of which some may be there. */
export const createStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),${GIVEN},
created as (${create(schema)}
  where g.seen is null
  order by g.workspace, g.key
  on conflict (workspace, key) do nothing
  returning id
),
begun as (${begin(schema)} from created join given g on g.id = created.id)
select g.n, g.id, true as created, true as changed, false as differs, 1 as revision, ${msOf('g.next_at')} as next_at
from created join given g on g.id = created.id`)

/** What is otherwise may be changed, or is not as the caller saw it. */
export const compareStatement = (schema: string): Statement =>
  prepared(`
with ${GIVEN}
select g.n, s.id, false as created, ${DIFFERS} as changed, ${DIFFERS} and s.revision is distinct from g.seen as differs,
  s.revision, ${msOf('c.next_at')} as next_at
from given g cross join lateral (${stored(schema)}) s
cross join lateral (${cursorOf(schema)}) c`)

/**
 * Compares again, because what was locked may have been changed before. What was deleted of a timing that changed is taken
 * up by no new plan where the caller has accounted for the time it belongs to; so it is recorded here.
 */
export const changeStatement = (schema: string): Statement =>
  prepared(`
with ${GIVEN},
old as materialized (
  select g.n, s.id, s.workspace, s.key, s.revision, s.pause is not null as paused,
    ${instantAt("(s.pause ->> 'until')::float8")} as paused_until, s.quarantine is not null as aside,
    g.timing::jsonb is distinct from s.timing::jsonb as retimed, ${definitionIn('s')} as before
  from given g cross join lateral (${stored(schema)}) s ${MANY} cross join json_array_elements('[0]') as more
  where ${DIFFERS} and s.revision = g.seen
),${retraction(schema, 'select id from old')},
goal as materialized (
  select o.*, coalesce(b.number, 0) as number,
    greatest(${loweredWatermark('c', 'b')}, case when o.retimed then g.watermark_at end) as watermark_at,
    case when o.paused then o.paused_until when o.retimed then g.next_at
      when o.aside or c.next_at is null then least(g.next_at, b.first_at) else least(c.next_at, b.first_at) end as next_at
  from old o join given g on g.n = o.n
  cross join lateral (select next_at, watermark_at from ${schema}.cursors where schedule_id = o.id limit 1) c
  left join back b on b.schedule_id = o.id
),
changed as (
  update ${schema}.schedules s
  set revision = s.revision + 1, ${PARTS.map((part) => `${part} = g.${part}`).join(', ')},
    updated_at = (select now from clock), updated_by = g.by, quarantine = null
  from old o join given g on g.n = o.n
  where s.id = any(array(select id from old)) and s.id = o.id
),
moved as (
  update ${schema}.cursors c
  set revision = c.revision + 1, watermark_at = o.watermark_at, next_at = o.next_at, run_count = c.run_count - o.number
  from goal o
  where c.schedule_id = any(array(select id from old)) and c.schedule_id = o.id
  returning o.n, o.id, c.revision, c.next_at
),${passedBy(
    schema,
    `select o.id as schedule_id, d.scheduled_at as from_at, d.scheduled_at as to_at, d.slot_start_at as after_at,
    1 as count, 'skipped' as state, 'edited' as reason, '' as detail
  from gone d join goal o on o.id = d.schedule_id where d.scheduled_at <= o.watermark_at`,
  )},
revised as (${revise(
    schema,
    `select o.id, o.workspace, o.key, 'edited', o.revision + 1, (select now from clock), g.by, o.watermark_at, o.before, ${definitionIn('g')}
  from goal o join given g on g.n = o.n order by o.n`,
  )})
select n, id, false as created, true as changed, false as differs, revision, ${msOf('next_at')} as next_at from moved`)
