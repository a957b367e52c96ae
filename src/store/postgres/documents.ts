/** Documents as rows of Postgres: each made, changed and removed by one conditional write; what stands in them is decided by who keeps them. */
import { type Json, toJsonText } from '../../json.ts'
import { type Document, type DocumentStore, MAX_DOCUMENT_BYTES, type PutDocument } from '../contract/documents.ts'
import type { Connection } from './connection.ts'
import { msOf, spanOf } from './rows.ts'
import { prepared, type Statement, unprepared, type Value } from './statement.ts'

interface Row extends Pick<Document, 'kind' | 'id' | 'workspace' | 'state' | 'version'> {
  readonly data: Json
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number | null
}

export function createDocuments(connection: Connection, schema: string): DocumentStore {
  const [get, list, remove] = [getStatement(schema), listStatement(schema), removeStatement(schema)]
  const [make, change] = [makeStatement(schema), changeStatement(schema)]
  const states = statesStatement(schema)
  const { ask } = connection.api
  return {
    async get(kind, id) {
      const [row] = await ask<Row>(get, [kind, id])
      return row ? documentOf(row) : null
    },
    async list(kind, { workspace, state, limit, after }) {
      const rows = await ask<Row>(list, [kind, workspace ?? null, state ?? null, after ?? null, limit])
      return rows.map(documentOf)
    },
    async states(kind, { prefix, limit }) {
      const rows = await ask<{ state: string }>(states, [kind, prefix, limit])
      return rows.map(({ state }) => state).filter((state) => state.startsWith(prefix))
    },
    async put(document) {
      const values = valuesOf(document)
      const [row] = await (document.from === 0 ? ask<Row>(make, values) : ask<Row>(change, [...values, document.from]))
      return row ? documentOf(row) : null
    },
    async remove(kind, id, from) {
      return (await ask(remove, [kind, id, from ?? null])).length > 0
    },
  }
}

const valuesOf = ({ kind, id, workspace, state, data, forMs }: PutDocument): Value[] => [
  ...[kind, id, workspace, state, toJsonText(data, { what: `the ${kind}`, maxBytes: MAX_DOCUMENT_BYTES })],
  forMs ?? null,
]

const documentOf = ({ created_at, updated_at, expires_at, ...rest }: Row): Document => ({
  ...rest,
  createdAt: created_at,
  updatedAt: updated_at,
  expiresAt: expires_at,
})

const FIELDS = `d.kind, d.id, d.workspace, d.state, d.data, d.version, ${msOf('d.created_at')} as created_at,
  ${msOf('d.updated_at')} as updated_at, ${msOf('d.expires_at')} as expires_at`

/** What has expired is not there for anybody, though its row may be. */
const isThere = (schema: string): string => `(d.expires_at is null or d.expires_at > (select ${schema}.now_at()))`

export const getStatement = (schema: string): Statement =>
  prepared(`
select ${FIELDS} from ${schema}.documents d where d.kind = $1::text and d.id = $2::text and ${isThere(schema)}`)

/** Planned for each question, as the filters ask for different indexes. */
export const listStatement = (schema: string): Statement =>
  unprepared(`
select ${FIELDS} from ${schema}.documents d
where d.kind = $1::text and ($2::text is null or d.workspace = $2::text) and ($3::text is null or d.state = $3::text)
  and ($4::text is null or d.id < $4::text) and ${isThere(schema)}
order by d.id desc
limit $5::int`)

/** From state to state by an index, however many documents are in each. */
export const statesStatement = (schema: string): Statement =>
  prepared(`
with recursive known as (
  (select d.state from ${schema}.documents d where d.kind = $1::text and d.state >= $2::text order by d.state limit 1)
  union all
  select next.state from known cross join lateral (
    select d.state from ${schema}.documents d where d.kind = $1::text and d.state > known.state order by d.state limit 1
  ) next
)
select state from known limit $3::int`)

/** In the place of one that has expired too, which then never was. */
const makeStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now)
insert into ${schema}.documents as d (kind, id, workspace, state, data, version, created_at, updated_at, expires_at)
select $1::text, $2::text, $3::text, $4::text, $5::text::json, 1, now, now, now + ${spanOf('$6::float8')} from clock
on conflict (kind, id) do update
set workspace = excluded.workspace, state = excluded.state, data = excluded.data, version = 1,
  created_at = excluded.created_at, updated_at = excluded.updated_at, expires_at = excluded.expires_at
where d.expires_at <= excluded.updated_at
returning ${FIELDS}`)

const changeStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now)
update ${schema}.documents d
set workspace = $3::text, state = $4::text, data = $5::text::json, version = d.version + 1,
  updated_at = now, expires_at = now + ${spanOf('$6::float8')}
from clock
where d.kind = $1::text and d.id = $2::text and d.version = $7::int and (d.expires_at is null or d.expires_at > now)
returning ${FIELDS}`)

const removeStatement = (schema: string): Statement =>
  prepared(`
delete from ${schema}.documents d
where d.kind = $1::text and d.id = $2::text and ($3::int is null or d.version = $3::int) and ${isThere(schema)}
returning d.id`)
