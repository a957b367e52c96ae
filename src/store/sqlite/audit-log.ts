/** The audit log in SQLite: the file lets in one writer at a time, so that each entry knows the hash of the one before. */
import type { Json } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { AuditEntry, AuditLogStore } from '../contract/audit-log.ts'
import { type Newest, nextEntry, readEntry } from '../next-audit-entry.ts'
import { countWithin } from '../page-bytes.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'

const COLUMNS = 'seq, at, workspace, actor, action, target, before, after, origin, previous_hash, hash'
/** Of a text SQLite knows its length without reading it. */
const SIZE = 'octet_length(before) + octet_length(after) + octet_length(origin) as size'
export const NEWEST = `select seq, hash from everytick_audit_log order by seq desc limit 1`
const INSERT = `insert into everytick_audit_log (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const WALK_SIZES = `select ${SIZE} from everytick_audit_log where seq > ? order by seq limit ?`
export const WALK = `select ${COLUMNS} from everytick_audit_log where seq > ? order by seq limit ?`

interface AuditRow extends Pick<AuditEntry, 'seq' | 'at' | 'workspace' | 'actor' | 'action' | 'target' | 'hash'> {
  readonly before: string
  readonly after: string
  readonly origin: string
  readonly previous_hash: string
}

export function auditLogStore(connection: Connection, clock: Clock): AuditLogStore {
  return {
    async append(entry) {
      const ready = readEntry(entry)
      return connection.write(() => {
        const [newest] = connection.all<NonNullable<Newest>>(NEWEST)
        const next = nextEntry(ready, newest, clock.now())
        connection.run(INSERT, ...valuesOf(next))
        return next
      })
    },
    async list(page) {
      const { text, values } = auditPageOf(page)
      return (await connection.read(() => connection.all<AuditRow>(text, ...values))).map(entryOf)
    },
    page: ({ maxBytes, ...page }) =>
      connection.read(() => {
        const { text, values } = auditPageOf({ ...page, limit: page.limit + 1 }, SIZE)
        const sizes = connection.all<{ size: number }>(text, ...values).map(({ size }) => size)
        const count = countWithin(sizes.slice(0, page.limit), maxBytes)
        const { text: read, values: given } = auditPageOf({ ...page, limit: count })
        return { entries: connection.all<AuditRow>(read, ...given).map(entryOf), hasMore: sizes.length > count }
      }),
    walk: ({ afterSeq, limit, maxBytes }) =>
      connection.read(() => {
        const sizes = connection.all<{ size: number }>(WALK_SIZES, afterSeq, limit).map(({ size }) => size)
        return connection.all<AuditRow>(WALK, afterSeq, countWithin(sizes, maxBytes)).map(entryOf)
      }),
  }
}

/** With only the conditions that are asked for, so that each question has its index. */
export function auditPageOf(
  page: Parameters<AuditLogStore['list']>[0],
  columns = COLUMNS,
): { text: string; values: Value[] } {
  const { workspace, limit, before } = page
  const conditions = [
    ...(workspace === undefined ? [] : ['workspace = ?']),
    ...(before === undefined ? [] : ['seq < ?']),
  ]
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const text = `select ${columns} from everytick_audit_log ${where} order by seq desc limit ?`
  const values = [workspace, before].filter((value) => value !== undefined)
  return { text, values: [...values, limit] }
}

const valuesOf = (entry: AuditEntry): Value[] => [
  ...[entry.seq, entry.at, entry.workspace, entry.actor, entry.action, entry.target],
  ...[entry.before, entry.after, entry.origin].map((value) => JSON.stringify(value)),
  ...[entry.previousHash, entry.hash],
]

const entryOf = ({ before, after, origin, previous_hash, ...rest }: AuditRow): AuditEntry => ({
  ...rest,
  before: JSON.parse(before) as Json,
  after: JSON.parse(after) as Json,
  origin: JSON.parse(origin) as Json,
  previousHash: previous_hash,
})
