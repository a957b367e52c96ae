/** Grants in Postgres: claims what is due, renews what is held, finds what was abandoned; how a grant ends is `settle.ts`. */
import type { Run } from '../../run/run.ts'
import type { ClaimRequest, ClaimStore } from '../contract/claims.ts'
import type { Connection } from './connection.ts'
import { liveFields, msOf, progressText, RUN_COLUMNS, type RunRow, runFields, runOf, spanOf } from './rows.ts'
import { createSettle } from './settle.ts'
import { plain, prepared, type Statement, texts } from './statement.ts'
import type { Wake } from './wake.ts'

export function createClaims(connection: Connection, wake: Wake, schema: string): ClaimStore {
  const [claim, renew, expired] = [claimStatement(schema), renewStatement(schema), expiredStatement(schema)]
  return {
    async claim(request) {
      const { workerId, leaseMs, wanted } = request
      const queues = texts(wanted.map(({ queue }) => queue))
      const limits = plain(wanted.map(({ limit }) => limit))
      const rows = await connection.hot.ask<ClaimRow>(claim, [workerId, leaseMs, queues, limits])
      const { now, coming } = rows[0]!
      const runs = rows[0]!.id === null ? [] : rows.map((row) => grantedOf(row, request))
      return { now, runs: runs.sort(byTurn(request)), nextDueAt: coming }
    },
    async renew(leaseMs, grants) {
      const values = [
        plain(grants.map(({ id }) => id)),
        plain(grants.map(({ fence }) => fence)),
        texts(grants.map(({ progress }) => progressText(progress))),
        leaseMs,
      ]
      const rows = await connection.hot.ask<{ now: number; id: string | null; lost: boolean }>(renew, values)
      const noted = (lost: boolean) => rows.filter((row) => row.id !== null && row.lost === lost).map(({ id }) => id!)
      return { now: rows[0]!.now, lost: noted(true), cancelling: noted(false) }
    },
    settle: createSettle(connection, wake, schema),
    async expired(limit) {
      return (await connection.hot.ask<RunRow>(expired, [limit])).map(runOf)
    },
  }
}

/** What every grant of one claim has in common does not travel with each. */
const COMMON: readonly string[] = ['state', 'worker_id', 'lease_until', 'started_at']
type ClaimRow = Omit<RunRow, 'id'> & { id: string | null; now: number; coming: number | null }

function grantedOf(row: ClaimRow, { workerId, leaseMs }: ClaimRequest): Run {
  const common = { state: 'running', worker_id: workerId, lease_until: row.now + leaseMs, started_at: row.now } as const
  return runOf({ ...row, ...common, id: row.id!, finished_at: null, result: null })
}

const byTurn = ({ wanted }: ClaimRequest): ((a: Run, b: Run) => number) => {
  const turn = new Map(wanted.map(({ queue }, i) => [queue, i]))
  return (a, b) => turn.get(a.queue)! - turn.get(b.queue)! || b.priority - a.priority || a.dueAt - b.dueAt
}

/**
 * Walks the queues and, in each, the priorities from high to low: a range of the index that ends where the future
 * begins, so that what is planned ahead costs nothing. Rows are found, locked and then written by their place in the
 * table; a join would let the server read all of it. Rows that another holds are passed over.
 */
export const claimStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
wanted as materialized (select * from unnest($3::text::text[], $4::text::int[]) as w (queue, number)),
granted as (
  update ${schema}.runs r
  set state = 'running', attempt = r.attempt + 1, fence = r.fence + 1, worker_id = $1::text,
    lease_until = (select now from clock) + ${spanOf('$2::float8')}, started_at = (select now from clock)
  where r.ctid = any(array(
    select found.place from wanted w cross join lateral (
      select due.place from generate_series(9, 0, -1) as level cross join lateral (
        select p.ctid as place from ${schema}.runs p
        where p.state = 'pending' and p.queue = w.queue and p.priority = level::smallint
          and p.due_at <= (select now from clock)
        order by p.due_at
        limit w.number
        for update skip locked
      ) due
      limit w.number
    ) found
  ))
  returning ${runFields('r', COMMON)}
),
coming as (
  select min(first.due_at) as due_at
  from wanted w cross join generate_series(9, 0, -1) as level cross join lateral (
    select p.due_at from ${schema}.runs p
    where p.state = 'pending' and p.queue = w.queue and p.priority = level::smallint
      and p.due_at > (select now from clock)
    order by p.due_at
    limit 1
  ) first
)
select ${msOf('clock.now')} as now, ${msOf('coming.due_at')} as coming, ${columnsOf('granted')}
from clock cross join coming left join granted on true`)

function columnsOf(table: string): string {
  return RUN_COLUMNS.filter((column) => !COMMON.includes(column))
    .map((column) => `${table}.${column}`)
    .join(', ')
}

export const renewStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
given as materialized (
  select * from unnest($1::text::uuid[], $2::text::bigint[], $3::text::text[]) as g (id, fence, progress)
),
kept as (
  update ${schema}.runs r
  set lease_until = greatest(r.lease_until, (select now from clock) + ${spanOf('$4::float8')}),
    progress = coalesce(g.progress::jsonb, r.progress)
  from given g
  where r.id = any(array(select id from given)) and r.id = g.id and r.fence = g.fence and r.state = 'running'
  returning r.id, r.cancel_requested
)
select ${msOf('clock.now')} as now, noted.id, noted.lost
from clock left join (
  select id, false as lost from kept where cancel_requested
  union all
  select g.id, true from given g where not exists (select 1 from kept k where k.id = g.id)
) noted on true`)

export const expiredStatement = (schema: string): Statement =>
  prepared(`
select ${liveFields('r')} from ${schema}.runs r
where r.state = 'running' and r.lease_until <= (select ${schema}.now_at())
order by r.lease_until
limit $1::int`)
