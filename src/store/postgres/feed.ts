/** What has happened within a span, in Postgres, read from the rows that tell of it anyway; who follows it, and how, is for others. */
import type { FeedEntry, FeedStore } from '../contract/feed.ts'
import type { Connection } from './connection.ts'
import { instantAt, msOf } from './rows.ts'
import { type Statement, unprepared } from './statement.ts'

interface FeedRow {
  kind: FeedEntry['kind']
  at: number
  id: string
  workspace: string
  detail: Record<string, unknown>
}

export function createFeed(connection: Connection, schema: string): FeedStore {
  const [all, ofOne] = [feedStatement(schema, false), feedStatement(schema, true)]
  return {
    async between({ afterAt, untilAt }, { limit, workspace }) {
      const span = [afterAt, untilAt, limit]
      const { ask } = connection.api
      const rows = await (workspace === undefined ? ask<FeedRow>(all, span) : ask<FeedRow>(ofOne, [...span, workspace]))
      // Each part of the statement tells what its kind of entry has.
      return rows.map(({ detail, ...row }) => ({ ...row, ...detail }) as unknown as FeedEntry)
    },
  }
}

interface Part {
  readonly kind: FeedEntry['kind']
  /** With the joins that its words need. */
  readonly from: (schema: string) => string
  readonly at: string
  readonly id: string
  readonly workspace: string
  readonly where?: string
  /** What it has besides, by name. */
  readonly detail: Readonly<Record<string, string>>
}

/** The run or schedule that an entry is about says whose it is: the schedule first, which is one look. */
const ownerOfEntry = (schema: string): string => `cross join lateral (
    select coalesce(
      (select s.workspace from ${schema}.schedules s where s.id = j.schedule_id),
      (select r.workspace from ${schema}.runs r where r.id = j.run_id),
      (select h.workspace from ${schema}.history h where h.id = j.run_id limit 1),
      ''
    ) as workspace
  ) o`

const PARTS: readonly Part[] = [
  {
    kind: 'run',
    from: (schema) => `${schema}.history h`,
    at: 'h.finished_at',
    id: 'h.id::text',
    workspace: 'h.workspace',
    detail: {
      state: 'h.state',
      job: 'h.job',
      queue: 'h.queue',
      schedule: `case when h.schedule_id is not null then json_build_object('id', h.schedule_id, 'key', coalesce(h.schedule_key, '')) end`,
      attempt: 'h.attempt',
      dueAt: msOf('h.due_at'),
      startedAt: msOf('h.started_at'),
      error: `case when h.error is not null and h.state <> 'succeeded' then
        json_build_object('name', h.error ->> 'name', 'message', left(h.error ->> 'message', 200)) end`,
    },
  },
  {
    kind: 'journal',
    from: (schema) => `${schema}.journal j ${ownerOfEntry(schema)}`,
    at: 'j.at',
    id: 'j.id::text',
    workspace: 'o.workspace',
    detail: { entry: 'j.kind', runId: 'j.run_id', scheduleId: 'j.schedule_id' },
  },
  {
    kind: 'revision',
    from: (schema) => `${schema}.revisions r`,
    at: 'r.at',
    id: 'r.id::text',
    workspace: 'r.workspace',
    detail: { change: 'r.kind', scheduleId: 'r.schedule_id', key: 'r.key', revision: 'r.revision', by: 'r.by' },
  },
  {
    kind: 'non_run',
    from: (schema) => `${schema}.non_runs n left join ${schema}.schedules s on s.id = n.schedule_id`,
    at: 'n.recorded_at',
    id: `n.schedule_id || '/' || ${msOf('n.from_at')}`,
    workspace: `coalesce(s.workspace, '')`,
    detail: { state: 'n.state', scheduleId: 'n.schedule_id', reason: 'n.reason', count: 'n.count' },
  },
  {
    kind: 'alert',
    from: (schema) => `${schema}.documents d`,
    at: 'd.updated_at',
    id: 'd.id',
    workspace: 'd.workspace',
    where: `d.kind = 'alert'`,
    detail: { alertId: 'd.id', state: 'd.state' },
  },
  {
    kind: 'audit',
    from: (schema) => `${schema}.audit_log a`,
    at: 'a.at',
    id: 'a.seq::text',
    workspace: 'a.workspace',
    detail: { action: 'a.action', target: 'a.target', actor: 'a.actor', seq: 'a.seq', hash: 'a.hash' },
  },
]

/** Each part gives its own first page; the page of all is among them. */
export const feedStatement = (schema: string, isOne: boolean): Statement => {
  const part = ({ kind, from, at, id, workspace, where, detail }: Part): string => `(
  select '${kind}' as kind, ${at} as instant, ${id} as id, ${workspace} as workspace,
    json_build_object(${Object.entries(detail)
      .map(([name, value]) => `'${name}', ${value}`)
      .join(', ')}) as detail
  from ${from(schema)}
  where ${at} > ${instantAt('$1::float8')} and ${at} <= ${instantAt('$2::float8')}
    ${where ? `and ${where}` : ''} ${isOne ? `and ${workspace} = $4::text` : ''}
  order by ${at}, 3 limit $3::int
)`
  return unprepared(`
select kind, ${msOf('instant')} as at, id, workspace, detail from (
${PARTS.map(part).join('\nunion all\n')}
) f
order by instant, kind, id
limit $3::int`)
}
