/** The claim: grants what is due, queue by queue and priority by priority; turns of workspaces are `claim-turn.ts`, limits `claim-limited.ts`. */
import type { Overlap, Run, Trigger } from '../../run/run.ts'
import type { Claimed, ClaimRequest } from '../contract/claims.ts'
import { interned, msOf, type RunRow, runFields, spanOf } from './rows.ts'
import { plain, prepared, type Statement, texts, type Value } from './statement.ts'

/** What is read of each grant, in this order; what all grants of one claim have in common does not travel. */
const GRANTED = [
  ...(['id', 'workspace', 'job', 'queue', 'trigger', 'priority', 'schedule_id', 'schedule_key'] as const),
  ...(['schedule_revision', 'scheduled_at', 'slot_start_at', 'due_at', 'created_at', 'payload', 'policy'] as const),
  ...(['attempt', 'fence', 'cancel_requested', 'idempotency_key', 'progress', 'error', 'lane', 'overlap'] as const),
]

/** Before each grant, and also when there is none to follow: the clock, the next due instant, and words about queues. */
export type ClaimRow = readonly [
  now: number,
  coming: number | null,
  limited: string | null,
  shared: string | null,
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
  lane: string | null,
  overlap: Overlap,
]

/** What one statement granted. */
export interface Part extends Pick<Claimed, 'now' | 'runs' | 'nextDueAt'> {
  /** Queues it left alone, because they are paused or have limits. */
  readonly limited: readonly string[]
  /** By queue: whose turn was last, and whether others had to be left for the next time. */
  readonly shared: Readonly<Record<string, { readonly turn: string | null; readonly more: boolean }>>
}

export const claimValues = ({ workerId, leaseMs, wanted }: ClaimRequest): Value[] => [
  workerId,
  leaseMs,
  texts(wanted.map(({ queue }) => queue)),
  plain(wanted.map(({ limit }) => limit)),
]

export function partOf(rows: readonly ClaimRow[], request: ClaimRequest): Part {
  const [now, nextDueAt, limited, shared, id] = rows[0]!
  return {
    now,
    nextDueAt,
    runs: id === null ? [] : rows.map((row) => grantOf(row, request)),
    limited: limited === null ? [] : (JSON.parse(limited) as string[]),
    shared: shared === null ? {} : (JSON.parse(shared) as Part['shared']),
  }
}

function grantOf(row: ClaimRow, { workerId, leaseMs }: ClaimRequest): Run {
  const now = row[0]
  return {
    id: row[4]!,
    workspace: row[5],
    job: row[6],
    queue: row[7],
    state: 'running',
    trigger: row[8],
    priority: row[9],
    schedule: row[10] === null ? null : { id: row[10], key: row[11], revision: row[12] },
    scheduledAt: row[13],
    slotStartAt: row[14],
    dueAt: row[15],
    lane: row[25],
    overlap: row[26],
    gate: 'open',
    createdAt: row[16],
    payload: row[17],
    policy: interned(row[18]) as Run['policy'],
    attempt: row[19],
    fence: row[20],
    workerId,
    leaseUntil: now + leaseMs,
    startedAt: now,
    finishedAt: null,
    cancelRequested: row[21],
    idempotencyKey: row[22],
    result: null,
    error: row[24],
    progress: row[23],
  }
}

/** Whether queues that are paused or have limits are left alone; only who holds their rows may grant of them. */
export type Limited = 'left out' | 'held'

/**
 * SQL for a list that the planner cannot look into. Otherwise it plans anew for each, since a plan for the one queue that
 * is asked for seems cheaper than one for any number; making such a plan takes longer than carrying it out.
 */
export const unseen = (parameter: number, type: string): string => `(select $${parameter}::text)::${type}[]`

/** SQL for the wanted queues, from lists that begin with the third parameter; those left out are told as `limited`. */
export function wantedQueues(schema: string, columns: Readonly<Record<string, string>>, limited: Limited): string {
  const lists = Object.values(columns).map((type, i) => unseen(i + 3, type))
  const isLimited =
    limited === 'held'
      ? 'false'
      : `(select q.pause is not null or q.limits <> '{}' from ${schema}.queues q where q.name = list.queue limit 1) is true`
  return `
asked as materialized (
  select list.*, ${isLimited} as limited from unnest(${lists.join(', ')}) as list (${Object.keys(columns).join(', ')})
),
wanted as materialized (select * from asked where not limited)`
}

/** SQL for the condition of a pending run `p` that may be granted; fits the indexes `runs_pending` and `runs_turn`. */
export const MAY_START = `p.state = 'pending' and p.gate = 'open'`

/**
 * SQL that grants the runs whose places `found` lists, and answers them. Rows are found, locked and then written by their
 * place in the table; a join would let the server read all of it. Rows that another holds are passed over.
 */
export const granting = (schema: string, found: string): string => `
granted as (
  update ${schema}.runs r
  set state = 'running', attempt = r.attempt + 1, fence = r.fence + 1, worker_id = $1::text,
    lease_until = (select now from clock) + ${spanOf('$2::float8')}, started_at = (select now from clock)
  where r.ctid = any(array(${found}))
  returning ${runFields('r', GRANTED)}
),
coming as (
  select min(first.due_at) as due_at
  from wanted w cross join generate_series(9, 0, -1) as level cross join lateral (
    select p.due_at from ${schema}.runs p
    where ${MAY_START} and p.queue = w.queue and p.priority = level::smallint
      and p.due_at > (select now from clock)
    order by p.due_at
    limit 1
  ) first
)`

/** SQL for the rows of the answer; `shared` is an expression for the words about turns. */
export const answering = (shared: string): string => `
select ${msOf('clock.now')}, ${msOf('coming.due_at')}, (select json_agg(queue)::text from asked where limited), ${shared},
  ${GRANTED.map((column) => `granted.${column}`).join(', ')}
from clock cross join coming left join granted on true`

/**
 * Walks the queues and, in each, the priorities from high to low: a range of the index that ends where the future
 * begins, so that what is planned ahead costs nothing.
 */
export const claimStatement = (schema: string, limited: Limited = 'left out'): Statement => ({
  rowMode: 'array',
  ...prepared(`
with clock as materialized (select ${schema}.now_at() as now),${wantedQueues(schema, { queue: 'text', number: 'int' }, limited)},${granting(
    schema,
    `
    select found.place from wanted w cross join lateral (
      select due.place from generate_series(9, 0, -1) as level cross join lateral (
        select p.ctid as place from ${schema}.runs p
        where ${MAY_START} and p.queue = w.queue and p.priority = level::smallint
          and p.due_at <= (select now from clock)
        order by p.due_at
        limit w.number
        for update skip locked
      ) due
      limit w.number
    ) found
  `,
  )}${answering('null::text')}`),
})
