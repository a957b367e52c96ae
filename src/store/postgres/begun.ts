/** Writes how many runs of a claim have begun, where a worker claimed ahead; what follows for a run that never began is decided by `run/settle.ts`. */
import type { BegunCount } from '../contract/claims.ts'
import type { Connection } from './connection.ts'
import { plain, prepared, type Statement } from './statement.ts'

export function createWriteBegun(
  connection: Connection,
  schema: string,
): (begun: readonly BegunCount[]) => Promise<void> {
  const statement = begunStatement(schema)
  return async (begun) => {
    await connection.hot.ask(statement, begunValues(begun))
  }
}

export const begunValues = (begun: readonly BegunCount[]): string[] => [
  plain(begun.map(({ claimId }) => claimId)),
  plain(begun.map(({ count }) => count)),
]

export const begunStatement = (schema: string): Statement =>
  prepared(`
update ${schema}.leases l set begun = greatest(l.begun, (
  select b.count from unnest($1::text::uuid[], $2::text::int[]) as b (claim_id, count) where b.claim_id = l.claim_id limit 1
))
where l.claim_id = any((select $1::text)::uuid[])`)
