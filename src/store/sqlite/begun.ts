/** Keeps how many runs of a claim have begun, where a worker claimed ahead, inside the caller's transaction; what follows for a run that never began is decided by `run/settle.ts`. */
import type { Run } from '../../run/run.ts'
import { type BegunCount, claimOrder, type ExpiredRun } from '../contract/claims.ts'
import type { Connection } from './connection.ts'

const START = `insert into everytick_claims (id, begun, ids, claimed_at) values (?, ?, ?, ?)`
const FINISH = `delete from everytick_claims where id = ? and json_array_length(ids) <= ?`
const ADVANCE = `update everytick_claims set begun = max(begun, ?) where id = ?`
export const CLAIMS_OF = `select id, begun, ids from everytick_claims where id in (select value from json_each(?))`

/** A claim that begins all of its runs at once needs no row. */
export function startClaim(
  connection: Connection,
  runs: readonly Run[],
  { claimId, startable, now }: { claimId: string; startable: number; now: number },
): void {
  if (runs.length <= startable) return
  const ids = [...runs].sort(claimOrder).map(({ id }) => id)
  connection.run(START, claimId, startable, JSON.stringify(ids), now)
}

export function writeBegun(connection: Connection, begun: readonly BegunCount[]): void {
  for (const { claimId, count } of begun)
    if (connection.run(FINISH, claimId, count) === 0) connection.run(ADVANCE, count, claimId)
}

export function withBegun(connection: Connection, runs: readonly Run[]): ExpiredRun[] {
  const claimIds = [...new Set(runs.flatMap(({ claimId }) => claimId ?? []))]
  const rows = connection.all<{ id: string; begun: number; ids: string }>(CLAIMS_OF, JSON.stringify(claimIds))
  const waiting = new Set(
    rows.flatMap(({ id, begun, ids }) =>
      idsOf(ids)
        .slice(begun)
        .map((run) => `${id} ${run}`),
    ),
  )
  return runs.map((run) => ({ ...run, hasBegun: !waiting.has(`${run.claimId} ${run.id}`) }))
}

const idsOf = (text: string): string[] => JSON.parse(text) as string[]
