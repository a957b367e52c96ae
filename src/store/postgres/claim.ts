/** The claim: grants what is due, queue by queue and priority by priority; what a worker does with a grant is `claims.ts`. */
import type { Run, Trigger } from '../../run/run.ts'
import type { Claimed, ClaimRequest } from '../contract/claims.ts'
import { interned, msOf, type RunRow, runFields, spanOf } from './rows.ts'
import { plain, prepared, type Statement, texts, type Value } from './statement.ts'

/** What is read of each grant, in this order; what all grants of one claim have in common does not travel. */
const GRANTED = [
  ...(['id', 'workspace', 'job', 'queue', 'trigger', 'priority', 'schedule_id', 'schedule_key'] as const),
  ...(['schedule_revision', 'scheduled_at', 'slot_start_at', 'due_at', 'created_at', 'payload', 'policy'] as const),
  ...(['attempt', 'fence', 'cancel_requested', 'idempotency_key', 'progress', 'error'] as const),
]

/** The clock and the next due instant before each, also when there is no grant to follow. */
export type ClaimRow = readonly [
  now: number,
  coming: number | null,
  id: string | null,
  workspace: string,
  job: string,
  queue: string,
  trigger: Trigger,
  priority: number,
  scheduleId: string | null,
  scheduleKey: string,
  scheduleRevision: number,
  scheduledAt: number | null,
  slotStartAt: number | null,
  dueAt: number,
  createdAt: number,
  payload: RunRow['payload'],
  policy: string,
  attempt: number,
  fence: number,
  cancelRequested: boolean,
  idempotencyKey: string | null,
  progress: RunRow['progress'],
  error: RunRow['error'],
]

export const claimValues = ({ workerId, leaseMs, wanted }: ClaimRequest): Value[] => [
  workerId,
  leaseMs,
  texts(wanted.map(({ queue }) => queue)),
  plain(wanted.map(({ limit }) => limit)),
]

export function claimedOf(rows: readonly ClaimRow[], request: ClaimRequest): Claimed {
  const [now, nextDueAt, id] = rows[0]!
  const runs = id === null ? [] : rows.map((row) => grantOf(row, request))
  return { now, runs: runs.sort(byTurn(request)), nextDueAt }
}

function grantOf(row: ClaimRow, { workerId, leaseMs }: ClaimRequest): Run {
  const now = row[0]
  return {
    id: row[2]!,
    workspace: row[3],
    job: row[4],
    queue: row[5],
    state: 'running',
    trigger: row[6],
    priority: row[7],
    schedule: row[8] === null ? null : { id: row[8], key: row[9], revision: row[10] },
    scheduledAt: row[11],
    slotStartAt: row[12],
    dueAt: row[13],
    createdAt: row[14],
    payload: row[15],
    policy: interned(row[16]) as Run['policy'],
    attempt: row[17],
    fence: row[18],
    workerId,
    leaseUntil: now + leaseMs,
    startedAt: now,
    finishedAt: null,
    cancelRequested: row[19],
    idempotencyKey: row[20],
    result: null,
    error: row[22],
    progress: row[21],
  }
}

const byTurn = ({ wanted }: ClaimRequest): ((a: Run, b: Run) => number) => {
  const turn = new Map(wanted.map(({ queue }, i) => [queue, i]))
  return (a, b) =>
    (a.queue === b.queue ? 0 : turn.get(a.queue)! - turn.get(b.queue)!) || b.priority - a.priority || a.dueAt - b.dueAt
}

/**
 * Walks the queues and, in each, the priorities from high to low: a range of the index that ends where the future
 * begins, so that what is planned ahead costs nothing. Rows are found, locked and then written by their place in the
 * table; a join would let the server read all of it. Rows that another holds are passed over.
 */
export const claimStatement = (schema: string): Statement => ({
  rowMode: 'array',
  ...prepared(`
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
  returning ${runFields('r', GRANTED)}
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
select ${msOf('clock.now')}, ${msOf('coming.due_at')}, ${GRANTED.map((column) => `granted.${column}`).join(', ')}
from clock cross join coming left join granted on true`),
})
