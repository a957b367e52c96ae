/** The audit log in Postgres: entries are added one at a time, whoever adds them, so that each knows the hash of the one before. */
import type { AuditEntry, AuditLogStore, NewAuditEntry } from '../contract/audit-log.ts'
import { type Newest, nextEntry, readEntry } from '../next-audit-entry.ts'
import type { Connection } from './connection.ts'
import { isAway } from './failure.ts'
import { createGather } from './gather.ts'
import { instantAt, msOf } from './rows.ts'
import { prepared, type Statement, unprepared, type Value } from './statement.ts'
import { unbounded, withinBytes } from './within-bytes.ts'

interface Row extends Omit<AuditEntry, 'previousHash'> {
  readonly previous_hash: string
}

export function createAuditLog(connection: Connection, schema: string): AuditLogStore {
  // A lock for the transaction rather than on the newest row: there may be none, and the newest may not be it any more.
  const lock = prepared('select pg_advisory_xact_lock(hashtextextended($1, 20))')
  const lockName = `everytick audit log ${schema}`
  const [newest, clock, insert] = [newestStatement(schema), clockStatement(schema), insertStatement(schema)]
  const [list, page, boundedWalk] = [listStatement(schema), pageStatement(schema), boundedWalkStatement(schema)]
  const { ask, transact } = connection.api

  const write = (entries: readonly NewAuditEntry[]): Promise<AuditEntry[]> =>
    transact(async (ask) => {
      await ask(lock, [lockName])
      // A statement of its own, so that it sees what was committed while this one waited.
      let [last] = await ask<NonNullable<Newest>>(newest, [])
      const [now] = await ask<{ now: number }>(clock, [])
      const added: AuditEntry[] = []
      for (const entry of entries) {
        const next = nextEntry(entry, last, now!.now)
        await ask(insert, valuesOf(next))
        added.push(next)
        last = next
      }
      return added
    })
  // Otherwise each that waits for the lock would have a connection of its own meanwhile, and others would find none.
  const gather = createGather({ write, isUnwritten: (error) => !isAway(error) })

  return {
    append: async (entry) => (await gather([readEntry(entry)]))[0]!,
    async list({ workspace, limit, before }) {
      return (await ask<Row>(list, [workspace ?? null, before ?? null, limit])).map(entryOf)
    },
    async page({ workspace, limit, before, maxBytes }) {
      const given = [workspace ?? null, before ?? null, limit + 1, maxBytes]
      const { rows, isCut } = unbounded(await ask<Row>(page, given))
      return { entries: rows.slice(0, limit).map(entryOf), hasMore: isCut || rows.length > limit }
    },
    async walk({ afterSeq, limit, maxBytes }) {
      return unbounded(await ask<Row>(boundedWalk, [afterSeq, limit, maxBytes])).rows.map(entryOf)
    },
  }
}

const valuesOf = (entry: AuditEntry): Value[] => [
  ...[entry.seq, entry.at, entry.workspace, entry.actor, entry.action, entry.target],
  ...[entry.before, entry.after, entry.origin].map((value) => JSON.stringify(value)),
  ...[entry.previousHash, entry.hash],
]

const entryOf = ({ previous_hash, ...rest }: Row): AuditEntry => ({ ...rest, previousHash: previous_hash })

const FIELDS = `a.seq, ${msOf('a.at')} as at, a.workspace, a.actor, a.action, a.target, a.before, a.after, a.origin,
  a.previous_hash, a.hash`

export const newestStatement = (schema: string): Statement =>
  prepared(`select seq, hash from ${schema}.audit_log order by seq desc limit 1`)

const clockStatement = (schema: string): Statement => prepared(`select ${msOf(`${schema}.now_at()`)} as now`)

const insertStatement = (schema: string): Statement =>
  prepared(`
insert into ${schema}.audit_log (seq, at, workspace, actor, action, target, before, after, origin, previous_hash, hash)
values ($1::bigint, ${instantAt('$2::float8')}, $3::text, $4::text, $5::text, $6::text, $7::text::json, $8::text::json,
  $9::text::json, $10::text, $11::text)`)

/** Planned for each question, as a workspace has an index of its own. */
export const listStatement = (schema: string): Statement =>
  unprepared(`
select ${FIELDS} from ${schema}.audit_log a
where ($1::text is null or a.workspace = $1::text) and ($2::bigint is null or a.seq < $2::bigint)
order by a.seq desc
limit $3::int`)

export const pageStatement = (schema: string): Statement => {
  const bound = { order: 'q.seq desc', columns: ['before', 'after', 'origin'], maxBytes: '$4::bigint' }
  return unprepared(withinBytes(listStatement(schema).text, bound))
}

export const walkStatement = (schema: string): Statement =>
  prepared(`
select ${FIELDS} from ${schema}.audit_log a where a.seq > $1::bigint order by a.seq limit $2::int`)

const boundedWalkStatement = (schema: string): Statement => {
  const bound = { order: 'q.seq', columns: ['before', 'after', 'origin'], maxBytes: '$3::bigint' }
  return prepared(withinBytes(walkStatement(schema).text, bound))
}
