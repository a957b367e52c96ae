/** The SQL by which schedules are created, compared and changed, a batch at a time; in which order is `put.ts`. */
import { toJsonText } from '../../json.ts'
import type { PutSchedule } from '../contract/schedules.ts'
import { kindRows, kindsOf, kindValues, rememberedTexts } from './kinds.ts'
import { retraction } from './retract.ts'
import { instantAt, msOf } from './rows.ts'
import { listOf, plain, prepared, type Statement, texts, type Value } from './statement.ts'

/** With its place in the call, by which its answer finds back. */
export interface Numbered {
  readonly n: number
  readonly put: PutSchedule
}

/** What schedules of one batch mostly share, in the order of the lists that carry it. */
const KIND = {
  ...{ job: 'text', queue: 'text', priority: 'smallint', description: 'text', source: 'text' },
  ...{ timing: 'jsonb', policy: 'jsonb', catch_up: 'jsonb', tags: 'jsonb', metadata: 'jsonb' },
}
const OWN = {
  ...{ workspace: 'text', key: 'text', n: 'int', id: 'uuid' },
  ...{ kind: 'int', next_ms: 'float8', watermark_ms: 'float8', payload: 'jsonb' },
}
const PARTS = [...Object.keys(KIND), 'payload']

export function putValues(list: readonly Numbered[]): Value[] {
  const text = rememberedTexts('definition')
  const { kinds, kindOf } = kindsOf(list, ({ put: { definition } }) => {
    const { job, queue, priority, description, source, timing, policy, catchUp, tags, metadata } = definition
    const values = [timing, policy, catchUp, tags, metadata]
    return [job, queue, priority, description, source, ...values.map(text)]
  })
  return [
    ...keyValues(list),
    plain(list.map(({ n }) => n)),
    plain(list.map(({ put }) => put.id)),
    plain(kindOf),
    plain(list.map(({ put }) => put.nextAt)),
    plain(list.map(({ put }) => put.watermarkAt)),
    texts(list.map(({ put }) => toJsonText(put.definition.payload, { what: 'payload' }))),
    ...kindValues(kinds),
  ]
}

export const keyValues = (list: readonly Numbered[]): Value[] => [
  texts(list.map(({ put }) => put.definition.workspace)),
  texts(list.map(({ put }) => put.definition.key)),
]

const GIVEN = `
given as materialized (
  select *, ${instantAt('next_ms')} as next_at, ${instantAt('watermark_ms')} as watermark_at
  from (${listOf(OWN)}) own join (${kindRows(KIND, 9)}) kind using (kind)
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
  order by g.workspace, g.key
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
  select g.n, s.id, s.pause is not null as paused, ${instantAt("(s.pause ->> 'until')::float8")} as paused_until,
    s.quarantine is not null as aside, g.timing is distinct from s.timing as retimed
  from given g cross join lateral (${stored(schema)}) s
  where ${DIFFERS}
),${retraction(schema, 'select id from old')},
goal as materialized (
  select o.*, g.next_at, g.watermark_at, back.at as back_at
  from old o join given g on g.n = o.n
  left join (select schedule_id, min(scheduled_at) as at from gone group by schedule_id) back on back.schedule_id = o.id
),
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
    watermark_at = greatest(least(c.watermark_at, (select now from clock)), case when o.retimed or o.aside then o.watermark_at end),
    next_at = case when o.paused then o.paused_until when o.retimed or o.aside then o.next_at else least(c.next_at, o.back_at) end
  from goal o
  where c.schedule_id = any(array(select id from old)) and c.schedule_id = o.id
  returning o.n, o.id, c.revision, c.next_at
)
select n, id, false as created, true as changed, revision, ${msOf('next_at')} as next_at from moved`)
