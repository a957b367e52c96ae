/** The claim in queues that are paused or have limits: counts and claims while it holds their rows; how much may be claimed is decided by `run/queue-limits.ts`. */
import { type Allowance, allowance, type QueueLimits, type RateLog, spend } from '../../run/queue-limits.ts'
import {
  type ClaimRow,
  claimStatement,
  MAY_START,
  type NumberedRequest,
  oldestValues,
  type Part,
  partOf,
} from './claim.ts'
import { type FairRequest, fairStatement, fairValues } from './claim-fair.ts'
import type { Connection } from './connection.ts'
import { isBusy } from './failure.ts'
import { msOf } from './rows.ts'
import { type Ask, prepared, type Statement, texts, unseen } from './statement.ts'

/** How long a claim waits for the queue's row, and how long whoever holds it may be silent before the server lets go. */
const WAIT_LIMIT_MS = 200
const SILENCE_MS = 5000
/** When nothing was claimed, though something may be due where nobody looked yet. */
const SOON_MS = 50

interface ScanRow {
  now: number
  queue: string
  limits: QueueLimits
  paused: boolean
  rate_log: RateLog
  due: boolean
  coming: number | null
  /** How many runs each workspace has running; null when nobody asked or none has. */
  running: Record<string, number> | null
}

type Wanted = NumberedRequest['wanted'][number]

/** A queue with what is wanted of it and what it allows. */
interface Offer extends ScanRow, Allowance {
  readonly wanted: Wanted
}

export interface LimitedPart extends Part {
  /** Queues that have no limits any more. */
  readonly free: readonly string[]
}

export type ClaimLimited = (request: NumberedRequest) => Promise<LimitedPart>

export function createClaimLimited(connection: Connection, schema: string): ClaimLimited {
  const [look, log] = [scanStatement(schema), logStatement(schema)]
  const [hold, holdFree] = [holdStatement(schema, ''), holdStatement(schema, 'skip locked')]
  const [claim, fair] = [claimStatement(schema, 'held'), fairStatement(schema, 'held')]

  const offers = async (wanted: readonly Wanted[], ask: Ask): Promise<Offer[]> => {
    const rows = await ask<ScanRow>(look, [texts(wanted.map(({ queue }) => queue))])
    const byName = new Map(rows.map((row) => [row.queue, row]))
    return wanted.map((one) => offerOf(byName.get(one.queue)!, one))
  }

  /** Inside a transaction that holds the queues. */
  const grant = async (request: NumberedRequest, given: readonly Offer[], ask: Ask): Promise<Part[]> => {
    const parts: Part[] = []
    const claimFair = given.filter(({ wanted, limits }) => wanted.fair || limits.perWorkspace !== undefined)
    const oldest = given.filter((offer) => !claimFair.includes(offer))
    if (oldest.length > 0) {
      const part = { ...request, wanted: oldest.map(({ wanted, limit }) => ({ ...wanted, limit })) }
      parts.push(partOf(await ask<ClaimRow>(claim, oldestValues(part)), part))
    }
    if (claimFair.length > 0) {
      const part: FairRequest = { ...request, wanted: claimFair.map(turnOf) }
      parts.push(partOf(await ask<ClaimRow>(fair, fairValues(part)), part))
    }
    return parts
  }

  const claimHeld = (request: NumberedRequest, how: Statement): Promise<{ offers: Offer[]; parts: Part[] }> =>
    connection.hot.transact(async (ask) => {
      const names = request.wanted.map(({ queue }) => queue).sort()
      const leased = new Set((await ask<{ name: string }>(how, [texts(names)])).map(({ name }) => name))
      const wanted = request.wanted.filter(({ queue }) => leased.has(queue))
      // In a statement of its own, which sees what was claimed while this one waited.
      const given = await offers(wanted, ask)
      const open = given.filter(({ limit }) => limit > 0)
      const parts = open.length > 0 ? await grant(request, open, ask) : []
      const spent = open.flatMap(({ queue, limits, rate_log }) => {
        const { granted, now } = claimedOf(parts, queue)
        return limits.rateLimit && granted > 0 ? [{ queue, log: spend(rate_log, limits, { granted, now }) }] : []
      })
      if (spent.length > 0) {
        const logs = texts(spent.map((one) => JSON.stringify(one.log)))
        await ask(log, [texts(spent.map(({ queue }) => queue)), logs])
      }
      return { offers: given, parts }
    })

  return async (request) => {
    // Most looks find that nothing is due, or that nothing may start: that much can be seen without holding anything.
    const seen = await offers(request.wanted, connection.hot.ask)
    const now = Math.max(...seen.map((offer) => offer.now))
    const free = seen.filter(({ paused, limits }) => !paused && Object.keys(limits).length === 0)
    const answer = { now, limited: [], several: [], read: 0, free: free.map(({ queue }) => queue) }
    const open = seen.filter(({ due, limit }) => due && limit > 0)
    const idle = seen.filter((offer) => !open.includes(offer)).map((offer) => nextOf(offer, []))
    if (open.length === 0) return { ...answer, runs: [], nextDueAt: earliest(idle), shared: {} }
    const part = { ...request, wanted: open.map(({ wanted }) => wanted) }
    const leased = await claimHeld(part, hold).catch((error: unknown) => {
      if (!isBusy(error)) throw error
      // Whoever holds one of them must not hold up the others.
      return open.length > 1 ? claimHeld(part, holdFree) : null
    })
    // Somebody holds the queue for longer than usual.
    if (!leased) return { ...answer, runs: [], nextDueAt: now + SOON_MS, shared: {} }
    return {
      ...answer,
      now: Math.max(now, ...leased.parts.map((part) => part.now)),
      runs: leased.parts.flatMap(({ runs }) => runs),
      nextDueAt: earliest([
        ...(leased.offers.length < open.length ? [now + SOON_MS] : []),
        ...idle,
        ...leased.offers.map((offer) => nextOf(offer, leased.parts)),
      ]),
      shared: Object.assign({}, ...leased.parts.map(({ shared }) => shared)),
    }
  }
}

function offerOf(row: ScanRow, wanted: Wanted): Offer {
  if (row.paused) return { ...row, wanted, limit: 0, againAt: null }
  const running = Object.values(row.running ?? {}).reduce((sum, number) => sum + number, 0)
  const { rate_log: log, now } = row
  return { ...row, wanted, ...allowance(row.limits, { wanted: wanted.limit, running, log, now }) }
}

const turnOf = ({ wanted, limit, limits: { perWorkspace }, running }: Offer): FairRequest['wanted'][number] =>
  perWorkspace === undefined ? { ...wanted, limit } : { ...wanted, limit, perWorkspace, running: running ?? {} }

function claimedOf(parts: readonly Part[], queue: string): { granted: number; now: number } {
  const granted = parts.reduce((sum, { runs }) => sum + runs.filter((run) => run.queue === queue).length, 0)
  return { granted, now: Math.max(...parts.map(({ now }) => now)) }
}

/**
 * When to look at a queue again. Where something is due and may not start, that is when the rate allows more; one that is
 * paused, or works on as much as it may, has no such instant: whoever ends a run, or lifts the pause, says so.
 */
function nextOf(
  { queue, paused, due, limit, againAt, coming, wanted, limits, now }: Offer,
  parts: readonly Part[],
): number | null {
  if (paused) return null
  const { granted } = claimedOf(parts, queue)
  if (due && granted === limit && limit < wanted.limit) return againAt
  if (limit === 0) return againAt
  const more = granted < limit && parts.some(({ shared }) => shared[queue]?.more)
  if (more) return limits.perWorkspace !== undefined && granted === 0 ? now + SOON_MS : now
  return coming
}

const earliest = (instants: readonly (number | null)[]): number | null => {
  const known = instants.filter((at) => at !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/** In queues that have limits from now on, what runs must be seen by whoever counts. */
export const keepStatement = (schema: string): Statement =>
  prepared(`
update ${schema}.runs set index_excluded = true
where queue = any($1::text::text[]) and readiness = 'ready' and not index_excluded and state = 'running'`)

/** Runs are counted only where a limit asks for it; those that run in such a queue stand in an index of their own. */
export const scanStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
asked as materialized (
  select list.queue, q.limits, q.pause, q.rate_log from unnest(${unseen(1, 'text')}) as list (queue)
  left join lateral (select limits, pause, rate_log from ${schema}.queues where name = list.queue limit 1) q on true
),
counted as materialized (
  select r.queue, r.workspace, count(*) as number from ${schema}.runs r
  where (select bool_or(limits ? 'globalConcurrency' or limits ? 'perWorkspace') from asked)
    and r.index_excluded and r.queue = any(array(select queue from asked))
  group by r.queue, r.workspace
)
select ${msOf('clock.now')} as now, a.queue, coalesce(a.limits, '{}') as limits, a.pause is not null as paused,
  coalesce(a.rate_log, '[]') as rate_log, first.due, ${msOf('first.coming')} as coming,
  (select json_object_agg(c.workspace, c.number) from counted c where c.queue = a.queue) as running
from clock cross join asked a cross join lateral (
  select coalesce(bool_or(past.due_at is not null), false) as due, min(next.due_at) as coming
  from generate_series(9, 0, -1) as level left join lateral (
    select p.due_at from ${schema}.runs p
    where ${MAY_START} and p.queue = a.queue and p.priority = level::smallint and p.due_at <= clock.now
    order by p.due_at limit 1
  ) past on true left join lateral (
    select p.due_at from ${schema}.runs p
    where ${MAY_START} and p.queue = a.queue and p.priority = level::smallint and p.due_at > clock.now
    order by p.due_at limit 1
  ) next on true
) first`)

/** The settings end with the transaction. A process that freezes inside it must not hold up the others for long. */
const holdStatement = (schema: string, locking: 'skip locked' | ''): Statement =>
  prepared(`
with patience as materialized (
  select set_config('lock_timeout', '${WAIT_LIMIT_MS}ms', true) is not null
    and set_config('idle_in_transaction_session_timeout', '${SILENCE_MS}ms', true) is not null as is_set
)
select q.name from patience cross join unnest($1::text::text[]) as list (queue) cross join lateral (
  select name from ${schema}.queues where name = list.queue and patience.is_set limit 1 for update ${locking}
) q`)

const logStatement = (schema: string): Statement =>
  prepared(`
update ${schema}.queues q set rate_log = list.log::jsonb
from unnest($1::text::text[], $2::text::text[]) as list (queue, log) where q.name = list.queue`)
