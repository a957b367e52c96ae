/** Grants in Postgres: renews what is held and finds what was abandoned; how a grant begins is `claim.ts`, how it ends `settle.ts`. */
import type { ClaimStore } from '../contract/claims.ts'
import { type ClaimRow, claimedOf, claimStatement, claimValues } from './claim.ts'
import type { Connection } from './connection.ts'
import { grantedTo, liveFields, msOf, progressText, type RunRow, runOf, spanOf } from './rows.ts'
import { createSettle } from './settle.ts'
import { plain, prepared, rowsOf, type Statement, texts } from './statement.ts'
import type { Wake } from './wake.ts'

export function createClaims(connection: Connection, wake: Wake, schema: string): ClaimStore {
  const [claim, renew, expired] = [claimStatement(schema), renewStatement(schema), expiredStatement(schema)]
  return {
    async claim(request) {
      return claimedOf(await connection.hot.ask<ClaimRow>(claim, claimValues(request)), request)
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

export const renewStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
given as materialized (${rowsOf({ id: 'uuid', fence: 'bigint', progress: 'text' })}),
kept as (
  update ${schema}.runs r
  set lease_until = greatest(r.lease_until, (select now from clock) + ${spanOf('$4::float8')}),
    progress = coalesce(g.progress::jsonb, r.progress)
  from given g
  where ${grantedTo('g')}
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
