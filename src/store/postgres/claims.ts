/** Grants in Postgres: renews what is held and finds what was abandoned; how a grant begins is `claim.ts` and its neighbours, how it ends `settle.ts`. */
import type { Run } from '../../run/run.ts'
import type { Claimed, ClaimRequest, ClaimStore } from '../contract/claims.ts'
import { type ClaimRow, claimStatement, claimValues, type Part, partOf } from './claim.ts'
import { createClaimLimited } from './claim-limited.ts'
import { turnStatement, turnValues } from './claim-turn.ts'
import type { Connection } from './connection.ts'
import { grantedTo, liveFields, msOf, progressText, type RunRow, runOf, spanOf } from './rows.ts'
import { createSettle } from './settle.ts'
import { plain, prepared, rowsOf, type Statement, texts } from './statement.ts'
import type { Wake } from './wake.ts'

export function createClaims(connection: Connection, wake: Wake, schema: string): ClaimStore {
  const [renew, expired] = [renewStatement(schema), expiredStatement(schema)]
  return {
    claim: createClaim(connection, schema),
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

/** Queues of one kind are one round trip; which ones have limits is remembered, and corrected by the answers. */
function createClaim(connection: Connection, schema: string): ClaimStore['claim'] {
  const [claim, turn] = [claimStatement(schema), turnStatement(schema)]
  const claimLimited = createClaimLimited(connection, schema)
  const limited = new Set<string>()

  const steps: ((request: ClaimRequest) => Promise<Part | null>)[] = [
    async (request) => {
      const part = only(request, ({ queue, fair }) => !fair && !limited.has(queue))
      if (part.wanted.length === 0 && request.wanted.length > 0) return null
      return partOf(await connection.hot.ask<ClaimRow>(claim, claimValues(part)), part)
    },
    async (request) => {
      const part = only(request, ({ queue, fair }) => fair === true && !limited.has(queue))
      if (part.wanted.length === 0) return null
      return atOnceIfMore(partOf(await connection.hot.ask<ClaimRow>(turn, turnValues(part)), part), part)
    },
    async (request) => {
      const part = only(request, ({ queue }) => limited.has(queue))
      if (part.wanted.length === 0) return null
      const answer = await claimLimited(part)
      for (const queue of answer.free) limited.delete(queue)
      return answer
    },
  ]

  return async (request) => {
    const parts: Part[] = []
    for (const step of steps) {
      try {
        const part = await step(request)
        for (const queue of part?.limited ?? []) limited.add(queue)
        if (part) parts.push(part)
      } catch (error) {
        // What was granted must be told; whoever claims again meets the failure then.
        if (parts.every(({ runs }) => runs.length === 0)) throw error
        break
      }
    }
    return claimedOf(parts, request)
  }
}

const only = (request: ClaimRequest, fits: (one: ClaimRequest['wanted'][number]) => boolean): ClaimRequest => ({
  ...request,
  wanted: request.wanted.filter(fits),
})

/** Where a workspace with something due may not have been reached, the next look should be now. */
function atOnceIfMore(part: Part, { wanted }: ClaimRequest): Part {
  const isShort = (queue: string, limit: number): boolean =>
    part.shared[queue]?.more === true && part.runs.filter((run) => run.queue === queue).length < limit
  return wanted.some(({ queue, limit }) => isShort(queue, limit)) ? { ...part, nextDueAt: part.now } : part
}

function claimedOf(parts: readonly Part[], request: ClaimRequest): Claimed {
  const runs = parts.flatMap((part) => part.runs)
  const dues = parts.map(({ nextDueAt }) => nextDueAt).filter((at) => at !== null)
  const turns = parts.flatMap(({ shared }) => Object.entries(shared)).map(([queue, { turn }]) => [queue, turn] as const)
  return {
    now: Math.max(...parts.map(({ now }) => now)),
    runs: runs.sort(byTurn(request)),
    nextDueAt: dues.length === 0 ? null : Math.min(...dues),
    turns: Object.fromEntries(turns.filter((turn): turn is [string, string] => turn[1] !== null)),
  }
}

const byTurn = ({ wanted }: ClaimRequest): ((a: Run, b: Run) => number) => {
  const turn = new Map(wanted.map(({ queue }, i) => [queue, i]))
  return (a, b) =>
    (a.queue === b.queue ? 0 : turn.get(a.queue)! - turn.get(b.queue)!) || b.priority - a.priority || a.dueAt - b.dueAt
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
