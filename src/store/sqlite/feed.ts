/** What has happened within a span, from SQLite, read from the rows that tell of it anyway; who follows it, and how, is for others. */
import type { FeedEntry, FeedStore } from '../contract/feed.ts'
import type { Connection } from './connection.ts'

interface Part {
  readonly kind: FeedEntry['kind']
  readonly from: string
  readonly at: string
  readonly id: string
  readonly workspace: string
  readonly where?: string
  /** What it has besides, by name. */
  readonly told: Readonly<Record<string, string>>
}

/** Whose a run or schedule is, where that is still known. */
const ownerOf = (scheduleId: string, runId?: string): string => `coalesce(
  (select workspace from everytick_schedules where id = ${scheduleId}),
  ${runId ? `(select workspace from everytick_runs where id = ${runId}), (select workspace from everytick_history where id = ${runId}),` : ''}
  '')`

const PARTS: readonly Part[] = [
  {
    kind: 'run',
    from: 'everytick_history h',
    at: 'h.finished_at',
    id: 'h.id',
    workspace: 'h.workspace',
    told: {
      state: 'h.state',
      job: 'h.job',
      queue: 'h.queue',
      schedule: `iif(h.schedule_id is null, null, json_object('id', h.schedule_id, 'key', coalesce(h.schedule_key, '')))`,
      attempt: 'h.attempt',
      dueAt: 'h.due_at',
      startedAt: 'h.started_at',
      error: `iif(h.error is null or h.error = 'null', null,
        json_object('name', h.error ->> 'name', 'message', substr(h.error ->> 'message', 1, 200)))`,
    },
  },
  {
    kind: 'journal',
    from: 'everytick_journal j',
    at: 'j.at',
    id: 'cast(j.id as text)',
    workspace: ownerOf('j.schedule_id', 'j.run_id'),
    told: { entry: 'j.kind', runId: 'j.run_id', scheduleId: 'j.schedule_id' },
  },
  {
    kind: 'revision',
    from: 'everytick_revisions r',
    at: 'r.at',
    id: 'cast(r.id as text)',
    workspace: 'r.workspace',
    told: { change: 'r.kind', scheduleId: 'r.schedule_id', key: 'r.key', revision: 'r.revision', by: 'r.by' },
  },
  {
    kind: 'non_run',
    from: 'everytick_non_runs n',
    at: 'n.recorded_at',
    id: `n.schedule_id || '/' || n.from_at`,
    workspace: ownerOf('n.schedule_id'),
    told: { state: 'n.state', scheduleId: 'n.schedule_id', reason: 'n.reason', count: 'n.count' },
  },
  {
    kind: 'alert',
    from: 'everytick_documents d',
    at: 'd.updated_at',
    id: 'd.id',
    workspace: 'd.workspace',
    where: `d.kind = 'alert'`,
    told: { alertId: 'd.id', state: 'd.state' },
  },
  {
    kind: 'audit',
    from: 'everytick_audit_log a',
    at: 'a.at',
    id: 'cast(a.seq as text)',
    workspace: 'a.workspace',
    told: { action: 'a.action', target: 'a.target', actor: 'a.actor', seq: 'a.seq', hash: 'a.hash' },
  },
]

/** Each kind by the index of its instants, its own first page; the unary plus keeps SQLite from choosing one by workspace. */
export const partOf = ({ kind, from, at, id, workspace, where, told }: Part, isOne: boolean): string => `
  select json_object('kind', '${kind}', 'at', ${at}, 'id', ${id}, 'workspace', ${workspace}, ${Object.entries(told)
    .map(([name, value]) => `'${name}', ${value}`)
    .join(', ')}) as entry
  from ${from} where ${at} > ? and ${at} <= ? ${where ? `and ${where}` : ''} ${isOne ? `and +${workspace} = ?` : ''}
  order by ${at}, ${id} limit ?`

export const FEED = PARTS.map((part) => ({ all: partOf(part, false), ofOne: partOf(part, true) }))

const order = (a: FeedEntry, b: FeedEntry): number =>
  a.at - b.at || (a.kind === b.kind ? (a.id < b.id ? -1 : 1) : a.kind < b.kind ? -1 : 1)

export function feedStore(connection: Connection): FeedStore {
  return {
    async between({ afterAt, untilAt }, { limit, workspace }) {
      const entries: FeedEntry[] = []
      const given = workspace === undefined ? [afterAt, untilAt, limit] : [afterAt, untilAt, workspace, limit]
      // One part after the other, so that none keeps the process busy for long.
      for (const { all, ofOne } of FEED) {
        const text = workspace === undefined ? all : ofOne
        const rows = await connection.read(() => connection.all<{ entry: string }>(text, ...given))
        for (const { entry } of rows) entries.push(JSON.parse(entry) as FeedEntry)
      }
      return entries.sort(order).slice(0, limit)
    },
  }
}
