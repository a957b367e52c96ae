/** Walks through the live runs, a few with every call, and puts back under watch what nobody would look at any more; who looks is `claims.ts`. */
import type { Connection } from './connection.ts'
import { FIRST_ID } from './rows.ts'
import { prepared, type Statement } from './statement.ts'

const STEP = 5000

/**
 * A claim leaves a row by which its runs are found again, so that none should ever be found here. But a row can be lost by
 * other hands than ours.
 */
export function createRewatch(connection: Connection, schema: string): () => Promise<void> {
  const statement = rewatchStatement(schema)
  let after = FIRST_ID
  return async () => {
    const [step] = await connection.api.ask<{ last: string | null }>(statement, [after])
    after = step!.last ?? FIRST_ID
  }
}

const rewatchStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
step as materialized (
  select id, state, lease_until from ${schema}.runs where id > $1::uuid order by id limit ${STEP}
),
watched as (
  insert into ${schema}.leases (check_at, ids)
  select min(lease_until), array_agg(id) from step
  where state = 'running' and lease_until < (select now from clock) - interval '1 minute'
  having count(*) > 0
)
select case when count(*) = ${STEP} then (array_agg(id order by id desc))[1] end as last from step`)
