/** Queues as rows in Postgres: sets limits and pauses, and shows what waits; claiming within them is `claim-limited.ts`. */
import { toJsonText } from '../../json.ts'
import { isLimited, type QueueLimits } from '../../run/queue-limits.ts'
import type { QueueStore, QueueSweep, SweptQueue } from '../contract/queues.ts'
import { MAY_START } from './claim.ts'
import { keepStatement } from './claim-limited.ts'
import type { Parts } from './parts.ts'
import { msOf } from './rows.ts'
import { prepared, type Statement, texts } from './statement.ts'

/** More than this is as good as many. */
const MAX_READY = 10_000

interface Row extends Omit<SweptQueue, 'oldestDueAt'> {
  oldest: number | null
  /** Which one it is of those that were found by jumps. */
  place: number | null
}

/** Of all names, as far as a column of integers reaches. */
const ALL: QueueSweep = { after: '', limit: 2 ** 31 - 1, names: [] }

export function createQueues({ connection, wake, sharing, schema }: Parts): QueueStore {
  const [configure, keep, list] = [configureStatement(schema), keepStatement(schema), queuesStatement(schema)]
  const [pause, resume] = [pauseStatement(schema), resumeStatement(schema)]
  const { ask } = connection.api
  const look = ({ after, limit, names }: QueueSweep): Promise<Row[]> => ask<Row>(list, [after, limit, texts(names)])
  return {
    async configure(queues) {
      // The last word counts where one is named twice; in order, so that two processes cannot wait for each other in a circle.
      const limits = new Map(queues.map((queue) => [queue.name, queue.limits]))
      const names = [...limits.keys()].sort()
      if (names.length === 0) return
      await sharing.share(names.filter((name) => limits.get(name)!.perWorkspace !== undefined))
      const changed = await ask<{ name: string }>(configure, [
        texts(names),
        texts(names.map((name) => limitsText(limits.get(name)!))),
      ])
      const changedNames = changed.map(({ name }) => name)
      const counted = changedNames.filter((name) => isLimited(limits.get(name)!))
      if (counted.length > 0) await ask(keep, [texts(counted)])
      if (changed.length > 0) wake.tell({ kind: 'runs', queues: changedNames })
    },
    async pause(name, { reason, by }) {
      await ask(pause, [name, reason, by])
    },
    async resume(name) {
      const resumed = (await ask(resume, [name])).length > 0
      if (resumed) wake.tell({ kind: 'runs', queues: [name] })
      return resumed
    },
    async list() {
      const rows = await look(ALL)
      return rows.map(({ oldest, place: _, configured: __, workspace: ___, ...row }) => ({
        ...row,
        oldestDueAt: oldest,
      }))
    },
    async sweep(of) {
      const rows = await look(of)
      const last = rows.find(({ place }) => place === of.limit)
      return {
        rows: rows.map(({ oldest, place: _, ...row }) => ({ ...row, oldestDueAt: oldest })),
        next: last?.name ?? null,
      }
    },
  }
}

/** Without what is not limited, so that a queue without limits is known by its empty object. */
const limitsText = ({ globalConcurrency, perWorkspace, rateLimit }: QueueLimits): string =>
  toJsonText(JSON.parse(JSON.stringify({ globalConcurrency, perWorkspace, rateLimit })), { what: 'limits' })

const configureStatement = (schema: string): Statement =>
  prepared(`
insert into ${schema}.queues as q (name, limits)
select name, limits::jsonb from unnest($1::text::text[], $2::text::text[]) as list (name, limits)
on conflict (name) do update set limits = excluded.limits where q.limits <> excluded.limits
returning q.name`)

const pauseStatement = (schema: string): Statement =>
  prepared(`
insert into ${schema}.queues (name, pause)
select $1::text, jsonb_build_object('reason', $2::text, 'by', $3::text, 'at', ${msOf(`${schema}.now_at()`)})
on conflict (name) do update set pause = excluded.pause`)

const resumeStatement = (schema: string): Statement =>
  prepared(`
update ${schema}.queues set pause = null where name = $1::text and pause is not null returning name`)

/** Names are found by jumps from one to the next, what was claimed lately through the leases that claims left; runs not ready wait for one that is found so, and are not looked for. */
export const queuesStatement = (schema: string): Statement =>
  prepared(`
with recursive clock as materialized (select ${schema}.now_at() as now),
pending as (
  (select p.queue, 1 as place from ${schema}.runs p where ${MAY_START} and p.queue > $1::text order by p.queue limit 1)
  union all
  select next.queue, pending.place + 1 from pending cross join lateral (
    select p.queue from ${schema}.runs p where ${MAY_START} and p.queue > pending.queue order by p.queue limit 1
  ) next where pending.place < $2::int
),
running as materialized (
  select queue, count(*) as number from (
    select k.queue from ${schema}.runs k where k.index_excluded
    union all
    select granted.queue from (select distinct unnest(ids) as id from ${schema}.leases) l cross join lateral (
      select r.queue from ${schema}.runs r where r.id = l.id and not r.index_excluded and r.state = 'running' limit 1
    ) granted
  ) held group by queue
),
named as materialized (
  select queue from pending union select queue from running union select name from ${schema}.queues
  union select name from unnest($3::text::text[]) as wanted (name)
)
select (select place from pending where pending.queue = n.queue) as place, q.name is not null as configured,
  (select p.workspace from ${schema}.runs p where ${MAY_START} and p.queue = n.queue limit 1) as workspace,
  n.queue as name, coalesce(q.limits, '{}') as limits, q.pause, due.ready, ${msOf('due.oldest')} as oldest,
  coalesce((select number from running where running.queue = n.queue), 0) as running
from clock cross join named n left join ${schema}.queues q on q.name = n.queue
cross join lateral (
  select count(*) as ready, min(due_at) as oldest from (
    select waiting.due_at from generate_series(9, 0, -1) as level cross join lateral (
      select p.due_at from ${schema}.runs p
      where ${MAY_START} and p.queue = n.queue and p.priority = level::smallint and p.due_at <= clock.now
      order by p.due_at limit ${MAX_READY}
    ) waiting
    limit ${MAX_READY}
  ) counted
) due
order by n.queue`)
