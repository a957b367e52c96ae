/** Documents as rows of SQLite: each made, changed and removed by one conditional write; what stands in them is decided by who keeps them. */
import { type Json, toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import {
  type Document,
  type DocumentKind,
  type DocumentPage,
  type DocumentStore,
  MAX_DOCUMENT_BYTES,
} from '../contract/documents.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { textOf } from './rows.ts'

const COLUMNS = 'kind, id, workspace, state, data, version, created_at, updated_at, expires_at'
// What has expired is not there for anybody, though its row may be.
const IS_THERE = '(expires_at is null or expires_at > ?)'
export const GET = `select ${COLUMNS} from everytick_documents where kind = ? and id = ? and ${IS_THERE}`
// In the place of one that has expired too, which then never was.
const MAKE = `
  insert into everytick_documents (${COLUMNS}) values (?, ?, ?, ?, ?, 1, ?, ?, ?)
  on conflict (kind, id) do update
  set workspace = excluded.workspace, state = excluded.state, data = excluded.data, version = 1,
    created_at = excluded.created_at, updated_at = excluded.updated_at, expires_at = excluded.expires_at
  where expires_at <= excluded.updated_at
  returning ${COLUMNS}`
const CHANGE = `
  update everytick_documents
  set workspace = ?, state = ?, data = ?, version = version + 1, updated_at = ?, expires_at = ?
  where kind = ? and id = ? and version = ? and ${IS_THERE}
  returning ${COLUMNS}`
// From state to state by an index, however many documents are in each.
export const STATES = `
  with recursive known(state) as (
    select min(state) from everytick_documents where kind = ?1 and state >= ?2
    union all
    select (select min(d.state) from everytick_documents d where d.kind = ?1 and d.state > known.state)
    from known where known.state is not null)
  select state from known where state is not null limit ?3`
const REMOVE = `delete from everytick_documents where kind = ? and id = ? and version = coalesce(?, version) and ${IS_THERE}`

interface DocumentRow extends Pick<Document, 'kind' | 'id' | 'workspace' | 'state' | 'version'> {
  readonly data: string
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number | null
}

export function documentStore(connection: Connection, clock: Clock): DocumentStore {
  return {
    async get(kind, id) {
      const [row] = await connection.read(() => connection.all<DocumentRow>(GET, kind, id, clock.now()))
      return row === undefined ? null : documentOf(row)
    },
    async list(kind, page) {
      const { text, values } = documentsOf(kind, page, clock.now())
      return (await connection.read(() => connection.all<DocumentRow>(text, ...values))).map(documentOf)
    },
    async states(kind, { prefix, limit }) {
      const rows = await connection.read(() => connection.all<{ state: string }>(STATES, kind, prefix, limit))
      return rows.map(({ state }) => state).filter((state) => state.startsWith(prefix))
    },
    async put({ kind, id, workspace, state, data, from, forMs }) {
      const text = toJsonText(data, { what: `the ${kind}`, maxBytes: MAX_DOCUMENT_BYTES })
      const whose = [textOf(workspace, 'workspace'), textOf(state, 'state'), text]
      const which = [kind, textOf(id, 'id')]
      const [row] = await connection.write(() => {
        const now = clock.now()
        const until = forMs === undefined ? null : now + forMs
        if (from === 0) return connection.all<DocumentRow>(MAKE, ...which, ...whose, now, now, until)
        return connection.all<DocumentRow>(CHANGE, ...whose, now, until, ...which, from, now)
      })
      return row === undefined ? null : documentOf(row)
    },
    remove: (kind, id, from) => connection.write(() => connection.run(REMOVE, kind, id, from ?? null, clock.now()) > 0),
  }
}

/** With only the conditions that are asked for, so that each question has its index. */
export function documentsOf(kind: DocumentKind, page: DocumentPage, now: number): { text: string; values: Value[] } {
  const { workspace, state, limit, after } = page
  const asked: [condition: string, value: Value | undefined][] = [
    ['kind = ?', kind],
    ['workspace = ?', workspace],
    ['state = ?', state],
    ['id < ?', after],
    [IS_THERE, now],
  ]
  const given = asked.filter((each): each is [string, Value] => each[1] !== undefined)
  const where = given.map(([condition]) => condition).join(' and ')
  const text = `select ${COLUMNS} from everytick_documents where ${where} order by id desc limit ?`
  return { text, values: [...given.map(([, value]) => value), limit] }
}

const documentOf = ({ data, created_at, updated_at, expires_at, ...rest }: DocumentRow): Document => ({
  ...rest,
  data: JSON.parse(data) as Json,
  createdAt: created_at,
  updatedAt: updated_at,
  expiresAt: expires_at,
})
