/** The SQL by which schedules are created, compared and changed, a batch at a time; in which order is `put.ts`. */
import { toJsonText } from '../../json.ts'
import type { PutSchedule } from '../contract/schedules.ts'
import { retraction } from './retract.ts'
import { instantAt, msOf } from './rows.ts'
import { plain, prepared, type Statement, texts, type Value } from './statement.ts'

/** With its place in the call, by which its answer finds back. */
export interface Numbered {
  readonly n: number
  readonly put: PutSchedule
}

/** Each part of a definition with its type, in the order of the arrays that carry it. */
const TEXT_PARTS = ['job', 'queue', 'description', 'source'] as const
const JSON_PARTS = ['timing', 'payload', 'policy', 'catchUp', 'tags', 'metadata'] as const
const PARTS = [...TEXT_PARTS, ...JSON_PARTS.map((part) => (part === 'catchUp' ? 'catch_up' : part)), 'priority']

export function putValues(list: readonly Numbered[]): Value[] {
  const definitions = list.map(({ put }) => put.definition)
  return [
    ...keyValues(list),
    plain(list.map(({ n }) => n)),
    plain(list.map(({ put }) => put.id)),
    plain(list.map(({ put }) => put.nextAt)),
    plain(list.map(({ put }) => put.watermarkAt)),
    plain(definitions.map(({ priority }) => priority)),
    ...TEXT_PARTS.map((part) => texts(definitions.map((definition) => definition[part]))),
    ...JSON_PARTS.map((part) => texts(definitions.map((definition) => toJsonText(definition[part], { what: part })))),
  ]
}

export const keyValues = (list: readonly Numbered[]): Value[] => [
  texts(list.map(({ put }) => put.definition.workspace)),
  texts(list.map(({ put }) => put.definition.key)),
]

const GIVEN = `
given as materialized (
  select workspace, key, n, id, ${instantAt('next_ms')} as next_at, ${instantAt('watermark_ms')} as watermark_at, priority,
    job, queue, description, source, timing::jsonb, payload::jsonb, policy::jsonb, catch_up::jsonb, tags::jsonb, metadata::jsonb
  from unnest($1::text::text[], $2::text::text[], $3::text::int[], $4::text::uuid[], $5::text::float8[], $6::text::float8[],
    $7::text::smallint[], $8::text::text[], $9::text::text[], $10::text::text[], $11::text::text[], $12::text::text[],
    $13::text::text[], $14::text::text[], $15::text::text[], $16::text::text[], $17::text::text[])
    as g (workspace, key, n, id, next_ms, watermark_ms, priority, job, queue, description, source, timing, payload, policy,
      catch_up, tags, metadata)
)`

/** As values and not as text: the order of keys in JSON is nobody's intention. */
const DIFFERS = `(${PARTS.map((part) => `g.${part}`).join(', ')}) is distinct from (${PARTS.map((part) => `s.${part}`).join(', ')})`

const stored = (schema: string): string => `
  select * from ${schema}.schedules where workspace = g.workspace and key = g.key limit 1`

export const createStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),${GIVEN},
created as (
  insert into ${schema}.schedules (id, workspace, key, revision, ${PARTS.join(', ')}, created_at, updated_at)
  select g.id, g.workspace, g.key, 1, ${PARTS.map((part) => `g.${part}`).join(', ')}, clock.now, clock.now
  from given g cross join clock
  on conflict (workspace, key) do nothing
  returning id
),
begun as (
  insert into ${schema}.cursors (schedule_id, next_at, watermark_at, planned_at, revision)
  select g.id, g.next_at, g.watermark_at, g.watermark_at, 1 from created join given g on g.id = created.id
)
select g.n, g.id, true as created, true as changed, 1 as revision, ${msOf('g.next_at')} as next_at
from created join given g on g.id = created.id`)

export const compareStatement = (schema: string): Statement =>
  prepared(`
with ${GIVEN}
select g.n, s.id, false as created, ${DIFFERS} as changed, s.revision, ${msOf('c.next_at')} as next_at
from given g cross join lateral (${stored(schema)}) s
cross join lateral (select next_at from ${schema}.cursors where schedule_id = s.id limit 1) c`)

/** Compares again, because what was locked may have been changed before. */
export const changeStatement = (schema: string): Statement =>
  prepared(`
with ${GIVEN},
old as materialized (
  select g.n, s.id, s.pause is not null as paused, s.quarantine is not null as aside, g.timing is distinct from s.timing as retimed
  from given g cross join lateral (${stored(schema)}) s
  where ${DIFFERS}
),${retraction(schema, 'select id from old')},
first as (select schedule_id, min(scheduled_at) as at from gone group by schedule_id),
changed as (
  update ${schema}.schedules s
  set revision = s.revision + 1, ${PARTS.map((part) => `${part} = g.${part}`).join(', ')},
    updated_at = (select now from clock), quarantine = null
  from old o join given g on g.n = o.n
  where s.id = any(array(select id from old)) and s.id = o.id
),
moved as (
  update ${schema}.cursors c
  set revision = c.revision + 1,
    watermark_at = greatest(least(c.watermark_at, (select now from clock)), case when o.retimed or o.aside then g.watermark_at end),
    next_at = case when o.paused then null when o.retimed or o.aside then g.next_at else least(c.next_at, first.at) end
  from old o join given g on g.n = o.n left join first on first.schedule_id = o.id
  where c.schedule_id = any(array(select id from old)) and c.schedule_id = o.id
  returning o.n, o.id, c.revision, c.next_at
)
select n, id, false as created, true as changed, revision, ${msOf('next_at')} as next_at from moved`)
