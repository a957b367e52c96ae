/** Claims in Postgres: renews what is held and finds what was abandoned; how a claim begins is `claim.ts` and its neighbours, how it ends `settle.ts`. */
import type { Run } from '../../run/run.ts'
import { systemClock } from '../../time/clock.ts'
import type { Claimed, ClaimRequest, ClaimStore } from '../contract/claims.ts'
import { createWriteBegun } from './begun.ts'
import {
  type ClaimRow,
  claimStatement,
  type NumberedRequest,
  numbered,
  oldestValues,
  type Part,
  partOf,
} from './claim.ts'
import { fairStatement, fairValues } from './claim-fair.ts'
import { createClaimLimited, keepStatement } from './claim-limited.ts'
import type { Parts } from './parts.ts'
import { claimedBy, liveFields, msOf, NOBODY, progressText, type RunRow, runOf, spanOf } from './rows.ts'
import { createScanStarts } from './scan-start.ts'
import { createSettle } from './settle.ts'
import { createSkipContended } from './skip-contended.ts'
import { plain, prepared, rowsOf, type Statement, texts } from './statement.ts'

export function createClaims(parts: Parts): ClaimStore {
  const { connection, schema } = parts
  const writeBegun = createWriteBegun(connection, schema)
  const [renew, expired, handOver] = [renewStatement(schema), expiredStatement(schema), handOverStatement(schema)]
  return {
    claim: createClaim(parts),
    async renew(leaseMs, leasedRuns, begun = []) {
      if (begun.length > 0) await writeBegun(begun)
      const values = [
        plain(leasedRuns.map(({ id }) => id)),
        plain(leasedRuns.map(({ fence }) => fence)),
        plain(leasedRuns.map(({ claimId }) => claimId)),
        texts(leasedRuns.map(({ progress }) => progressText(progress))),
        leaseMs,
      ]
      const rows = await connection.hot.ask<{ now: number; id: string | null; lost: boolean }>(renew, values)
      const noted = (lost: boolean) => rows.filter((row) => row.id !== null && row.lost === lost).map(({ id }) => id!)
      return { now: rows[0]!.now, lost: noted(true), cancelling: noted(false) }
    },
    settle: createSettle(parts),
    async handOver(leasedRuns, waitMs) {
      if (leasedRuns.length === 0) return []
      const values = [
        plain(leasedRuns.map(({ id }) => id)),
        plain(leasedRuns.map(({ fence }) => fence)),
        plain(leasedRuns.map(({ claimId }) => claimId)),
        waitMs,
      ]
      const rows = await connection.hot.ask<{ id: string; fence: number }>(handOver, values)
      const left = new Set(rows.map(({ id, fence }) => `${id} ${fence}`))
      return leasedRuns.map(({ id, fence }) => (left.has(`${id} ${fence}`) ? 'accepted' : 'refused'))
    },
    async expired(limit) {
      for (let look = 1; ; look++) {
        const rows = await connection.hot.ask<ExpiredRow>(expired, [limit])
        const lost = rows.filter((row): row is ExpiredRow & RunRow => row.id !== null)
        if (lost.length > 0 || !rows[0]!.more || look === MAX_SCANS)
          return lost.map((row) => ({ ...runOf(row), hasBegun: row.has_begun }))
      }
    },
  }
}

/** Without a run when none was lost. */
type ExpiredRow = { readonly more: boolean; readonly has_begun: boolean } & (RunRow | { readonly id: null })

/** Queues of one kind are one round trip; which ones have limits is remembered, and corrected by the answers. */
function createClaim({ connection, sharing, schema }: Parts): ClaimStore['claim'] {
  const [claim, fair, keep] = [claimStatement(schema), fairStatement(schema), keepStatement(schema)]
  const claimLimited = createClaimLimited(connection, schema)
  const limited = new Set<string>()
  const [scanStarts, skipContended] = [createScanStarts(systemClock), createSkipContended()]
  /** That of the last claim: mostly that of the next. */
  let kind: string | null = null

  const isShared = async ({ wanted }: ClaimRequest): Promise<ReadonlySet<string>> =>
    sharing.among(wanted.filter(({ fair }) => fair).map(({ queue }) => queue))

  /** What it claims of them from now on is counted while it runs; so is what it claimed before it knew. */
  const countIn = async (queues: readonly string[]): Promise<void> => {
    const news = queues.filter((queue) => !limited.has(queue))
    for (const queue of news) limited.add(queue)
    if (news.length > 0) await connection.hot.ask(keep, [texts(news)])
  }

  const steps: ((request: NumberedRequest, shared: ReadonlySet<string>) => Promise<Part | null>)[] = [
    async (request, shared) => {
      const part = only(request, ({ queue }) => !shared.has(queue) && !limited.has(queue))
      if (part.wanted.length === 0 && request.wanted.length > 0) return null
      const wanted = part.wanted.reduce((sum, { limit }) => sum + limit, 0)
      const shortcuts = { scanStartOf: scanStarts.of, passes: skipContended.next(wanted), kind }
      const rows = await connection.hot.ask<ClaimRow>(claim, oldestValues(part, shortcuts))
      const answer = partOf(rows, part, shortcuts.kind)
      if (answer.runs.length > 0) kind = rows[0]![0] ?? shortcuts.kind
      skipContended.claimed(answer.runs.length, wanted)
      const closelyMs = shortcuts.passes && answer.runs.length < wanted ? 0 : null
      return againIn(answer, [scanStarts.claimed({ ...answer, wanted: part.wanted }), closelyMs])
    },
    async (request, shared) => {
      const part = only(request, ({ queue }) => shared.has(queue) && !limited.has(queue))
      if (part.wanted.length === 0) return null
      return atOnceIfMore(partOf(await connection.hot.ask<ClaimRow>(fair, fairValues(part)), part), part)
    },
    async (request, shared) => {
      const part = only(request, ({ queue }) => limited.has(queue))
      if (part.wanted.length === 0) return null
      // Where nobody shares the queue, a turn is the usual order.
      const wanted = part.wanted.map((one) => (shared.has(one.queue) ? one : { ...one, fair: false }))
      const answer = await claimLimited({ ...part, wanted })
      for (const queue of answer.free) limited.delete(queue)
      return answer
    },
  ]

  return async (asked) => {
    connection.leased(asked.leaseMs)
    const request = numbered(asked)
    const parts: Part[] = []
    const shared = await isShared(request)
    for (const step of steps) {
      try {
        const part = await step(request, shared)
        if (!part) continue
        sharing.learn(part.several)
        parts.push(part)
        await countIn(part.limited)
      } catch (error) {
        // What was claimed must be told; whoever claims again meets the failure then.
        if (parts.every(({ runs }) => runs.length === 0)) throw error
        break
      }
    }
    return claimedOf(parts, request)
  }
}

/** The next look is due after the least of these, at the latest. */
function againIn(part: Part, afterMs: readonly (number | null)[]): Part {
  const looks = afterMs.filter((ms) => ms !== null).map((ms) => part.now + ms)
  return looks.length === 0
    ? part
    : { ...part, nextDueAt: Math.min(part.nextDueAt ?? Number.POSITIVE_INFINITY, ...looks) }
}

const only = (
  request: NumberedRequest,
  fits: (one: NumberedRequest['wanted'][number]) => boolean,
): NumberedRequest => ({
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
  const runs = parts.length === 1 ? parts[0]!.runs : parts.flatMap((part) => part.runs)
  const dues = parts.map(({ nextDueAt }) => nextDueAt).filter((at) => at !== null)
  const last = parts
    .flatMap(({ shared }) => Object.entries(shared))
    .map(([queue, { lastWorkspace }]) => [queue, lastWorkspace] as const)
  return {
    now: Math.max(...parts.map(({ now }) => now)),
    runs: claimFair(runs, byTurn(request)),
    nextDueAt: dues.length === 0 ? null : Math.min(...dues),
    lastWorkspaces: Object.fromEntries(last.filter((each): each is [string, string] => each[1] !== null)),
  }
}

/** Mostly they are. */
const claimFair = (runs: readonly Run[], compare: (a: Run, b: Run) => number): readonly Run[] =>
  runs.every((run, i) => i === 0 || compare(runs[i - 1]!, run) <= 0) ? runs : [...runs].sort(compare)

const byTurn = ({ wanted }: ClaimRequest): ((a: Run, b: Run) => number) => {
  const order = new Map(wanted.map(({ queue }, i) => [queue, i]))
  return (a, b) =>
    (a.queue === b.queue ? 0 : order.get(a.queue)! - order.get(b.queue)!) ||
    b.priority - a.priority ||
    a.dueAt - b.dueAt
}

export const renewStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
given as materialized (${rowsOf({ id: 'uuid', fence: 'bigint', claim: 'uuid', progress: 'text' })}),
kept as (
  update ${schema}.runs r
  set lease_until = greatest(r.lease_until, (select now from clock) + ${spanOf('$5::float8')}),
    progress = coalesce(g.progress::jsonb, r.progress), index_excluded = true
  from given g
  where ${claimedBy('g')} and r.worker_id <> '${NOBODY}'
  returning r.id, r.cancel_requested
)
select ${msOf('clock.now')} as now, noted.id, noted.lost
from clock left join (
  select id, false as lost from kept where cancel_requested
  union all
  select g.id, true from given g where not exists (select 1 from kept k where k.id = g.id)
) noted on true`)

/** Looked at by their new leases, which may end before the old ones would have. */
export const handOverStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (
  select now + ${spanOf('$4::float8')} as lease_until from (select ${schema}.now_at() as now) reading
),
given as materialized (${rowsOf({ id: 'uuid', fence: 'bigint', claim: 'uuid' })}),
left_alone as (
  update ${schema}.runs r
  set worker_id = '${NOBODY}', lease_until = (select lease_until from clock), index_excluded = true
  from given g
  where ${claimedBy('g')} and not r.cancel_requested
  returning r.id, r.fence
),
checked_after as (
  insert into ${schema}.leases (check_at, ids)
  select clock.lease_until, list.ids from clock cross join (select array(select id from left_alone) as ids) list
  where cardinality(list.ids) > 0
)
select id, fence from left_alone`)

/** Leases, and runs, that one look passes through; the next goes on. */
const MOST_LEASES = 2000
const SCANNED = 20_000
/** Looks in a row that find nothing lost, though there is more to look at. */
const MAX_SCANS = 50

/**
 * Looks at those runs whose time to be looked at has come, told by the claims that claimed them. What has ended is
 * forgotten, what was renewed is looked at again when its lease ends, and what is lost again and again until it is settled. A list
 * of ids is never changed, because the place of an id in it tells whether its run has begun.
 */
export const expiredStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
due as materialized (
  select place, ids, claim_id, begun from (
    select l.ctid as place, l.ids, l.claim_id, l.begun, sum(cardinality(l.ids)) over (order by l.check_at, l.ctid) - cardinality(l.ids) as before
    from (
      select ctid, check_at, ids, claim_id, begun from ${schema}.leases where check_at <= (select now from clock)
      order by check_at limit ${MOST_LEASES} for update skip locked
    ) l
  ) counted
  where before < ${SCANNED}
),
held as materialized (
  select d.place, d.claim_id is null or list.n <= d.begun as has_begun, r.*
  from due d cross join lateral unnest(d.ids) with ordinality as list (id, n) cross join lateral (
    select r.id, r.lease_until from ${schema}.runs r
    where r.id = list.id and r.state = 'running' and (d.claim_id is null or r.claim_id = d.claim_id)
    limit 1
  ) r
),
rest as materialized (select place, min(lease_until) as check_at from held group by place),
forgotten as (
  delete from ${schema}.leases where ctid = any(array(select place from due where place not in (select place from rest)))
),
put_off as (
  update ${schema}.leases l set check_at = rest.check_at from rest
  where l.ctid = any(array(select place from rest)) and l.ctid = rest.place
)
select full_scan.more, lost.* from (
  select (select count(*) from due) = ${MOST_LEASES} or (select sum(cardinality(ids)) from due) >= ${SCANNED} as more
) full_scan left join (
  select ${liveFields('r')}, ended.has_begun from (
    select id, bool_or(has_begun) as has_begun from held where lease_until <= (select now from clock) group by id
  ) ended
  cross join lateral (select * from ${schema}.runs where id = ended.id limit 1) r
  where r.state = 'running'
  order by r.lease_until
  limit $1::int
) lost on true`)
