/** The claim: claims what is due, queue by queue and priority by priority; turns of workspaces are `claim-fair.ts`, limits `claim-limited.ts`. */
import { randomUUID } from 'node:crypto'
import type { Overlap, Run, Trigger } from '../../run/run.ts'
import type { Claimed, ClaimRequest, Wanted } from '../contract/claims.ts'
import { remembered } from '../interned.ts'
import { instantAt, msOf, type RunRow, runFields, spanOf } from './rows.ts'
import { entriesRead } from './scan-backoff.ts'
import { BEGINNING, type ScanStart } from './scan-start.ts'
import { plain, prepared, type Statement, texts, unseen, type Value } from './statement.ts'

/**
 * What is read of each claim, in this order; what all claims of one claim have in common does not travel. What is usual is
 * not said either: writing, sending and reading nothing costs next to nothing.
 */
const CLAIMED: readonly { readonly column: string; readonly usually?: string }[] = [
  ...['id', 'schedule_id', 'schedule_key', 'schedule_revision', 'scheduled_at', 'slot_start_at', 'due_at'].map(always),
  { column: 'created_at', usually: 'r.due_at' },
  { column: 'payload', usually: `'null'` },
  { column: 'attempt', usually: 'r.fence' },
  { column: 'fence', usually: '1' },
  { column: 'cancel_requested', usually: 'false' },
  ...['idempotency_key', 'progress', 'error', 'concurrency_group'].map(always),
  { column: 'overlap', usually: `'allow'` },
]

function always(column: string): { column: string } {
  return { column }
}

const COLUMNS = CLAIMED.map(({ column }) => column)

const FIELDS = CLAIMED.map(({ column, usually }) => {
  if (usually === undefined) return runFields('r', [column])
  const told = `nullif(r.${column}, ${usually})`
  return `${column.endsWith('_at') ? msOf(told) : told} as ${column}`
}).join(', ')

/** A claim, in the order of `CLAIMED`; the row after all of them has no id, and in the place of the kind what there is to say besides. */
export type ClaimRow = readonly [
  kind: string | null,
  id: string | null,
  scheduleId: string | null,
  scheduleKey: string,
  scheduleRevision: number,
  scheduledAt: number | null,
  slotStartAt: number | null,
  dueAt: number,
  createdAt: number | null,
  payload: RunRow['payload'],
  attempt: number | null,
  fence: number | null,
  cancelRequested: boolean | null,
  idempotencyKey: string | null,
  progress: RunRow['progress'],
  error: RunRow['error'],
  group: string | null,
  overlap: Overlap | null,
]

/** What few kinds of runs share travels as one text, and is read once for each. No name has a control character in it. */
const BETWEEN = '\u001f'
const KIND = ['workspace', 'job', 'queue', 'trigger', 'priority::text', 'policy::text']
const KIND_OF_R = KIND.map((part) => `r.${part}`).join(` || U&'\\001f' || `)

/** SQL for the kind of `r`, or null where it is the one whose parts are the parameters from `first` on. */
const kindUnless = (first: number): string => {
  const isKnown = KIND.map((part, i) => `r.${part} = $${first + i}::text`).join(' and ')
  return `case when ${isKnown} then null else ${KIND_OF_R} end`
}

type Kind = Pick<Run, 'workspace' | 'job' | 'queue' | 'trigger' | 'priority' | 'policy'>

const kindOf = remembered((text): Kind => {
  const [workspace, job, queue, trigger, priority, policy] = text.split(BETWEEN) as [
    string,
    string,
    string,
    Trigger,
    string,
    string,
  ]
  return { workspace, job, queue, trigger, priority: Number(priority), policy: JSON.parse(policy) as Run['policy'] }
})

interface Head {
  readonly now: number
  /** The next due instant. */
  readonly coming: number | null
  readonly limited: readonly string[] | null
  readonly several: readonly string[] | null
  readonly shared: Part['shared'] | null
  readonly read: number
}

/** What one statement claimed. */
export interface Part extends Pick<Claimed, 'now' | 'runs' | 'nextDueAt'> {
  /** Queues it left alone, because they are paused or have limits. */
  readonly limited: readonly string[]
  /** Queues that several workspaces use. */
  readonly several: readonly string[]
  /** Entries of the queues' index that the server read. */
  readonly read: number
  /** By queue: whose turn was last, and whether others had to be left for the next time. */
  readonly shared: Readonly<Record<string, { readonly lastWorkspace: string | null; readonly more: boolean }>>
}

/** What a claim of the oldest may leave out. */
export interface Shortcuts {
  /** From when on it looks in each queue. */
  readonly scanStartOf: (queue: string) => ScanStart
  /** Whether it passes over what a transaction in flight has touched. */
  readonly passes: boolean
  /** The kind that need not be told. */
  readonly kind: string | null
}

const NO_SHORTCUTS: Shortcuts = { scanStartOf: () => BEGINNING, passes: false, kind: null }

export const numbered = (request: ClaimRequest): NumberedRequest => ({
  ...request,
  wanted: request.wanted.map((one) => ({ ...one, claimId: randomUUID() })),
})

/** A request in which every queue has the id of its claim. */
export interface NumberedRequest extends ClaimRequest {
  readonly wanted: readonly (Wanted & { readonly claimId: string })[]
}

export const claimValues = ({ workerId, leaseMs, wanted }: NumberedRequest): Value[] => [
  workerId,
  leaseMs,
  texts(wanted.map(({ queue }) => queue)),
  plain(wanted.map(({ limit }) => limit)),
  plain(wanted.map(({ claimId }) => claimId)),
  plain(wanted.map(({ startable, limit }) => startable ?? limit)),
]

/** The lists of `claimValues` that say what is wanted of each queue. */
export const WANTED = { queue: 'text', number: 'int', claim_id: 'uuid', startable: 'int' } as const

/** For `claimStatement`. */
export const oldestValues = (
  request: NumberedRequest,
  { scanStartOf, passes, kind }: Shortcuts = NO_SHORTCUTS,
): Value[] => [
  ...claimValues(request),
  texts(request.wanted.map(({ queue }) => plain(scanStartOf(queue)))),
  passes,
  ...(kind?.split(BETWEEN) ?? KIND.map(() => null)),
]

/** `kind` is the one that was not told. */
export function partOf(rows: readonly ClaimRow[], request: NumberedRequest, kind: string | null = null): Part {
  const { now, coming, limited, several, shared, read } = JSON.parse(rows.at(-1)![0]!) as Head
  const claimIds = new Map(request.wanted.map(({ queue, claimId }) => [queue, claimId]))
  const claiming = { ...request, now, kind, claimIds }
  return {
    now,
    nextDueAt: coming,
    runs: rows.slice(0, -1).map((row) => toClaimedRun(row, claiming)),
    limited: limited ?? [],
    several: several ?? [],
    read,
    shared: shared ?? {},
  }
}

interface Claiming extends Pick<ClaimRequest, 'workerId' | 'leaseMs'> {
  readonly now: number
  readonly kind: string | null
  readonly claimIds: ReadonlyMap<string, string>
}

function toClaimedRun(row: ClaimRow, { workerId, leaseMs, now, kind, claimIds }: Claiming): Run {
  const { workspace, job, queue, trigger, priority, policy } = kindOf(row[0] ?? kind!)
  const fence = row[11] ?? 1
  return {
    id: row[1]!,
    workspace,
    job,
    queue,
    state: 'running',
    trigger,
    priority,
    schedule: row[2] === null ? null : { id: row[2], key: row[3], revision: row[4] },
    scheduledAt: row[5],
    slotStartAt: row[6],
    dueAt: row[7],
    group: row[16],
    overlap: row[17] ?? 'allow',
    readiness: 'ready',
    createdAt: row[8] ?? row[7],
    payload: row[9],
    policy,
    attempt: row[10] ?? fence,
    fence,
    claimId: claimIds.get(queue)!,
    workerId,
    leaseUntil: now + leaseMs,
    startedAt: now,
    finishedAt: null,
    cancelRequested: row[12] ?? false,
    idempotencyKey: row[13],
    result: null,
    error: row[15],
    progress: row[14],
  }
}

/** Whether queues that are paused or have limits are left alone; only who holds their rows may claim of them. */
export type Limited = 'left out' | 'held'

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

/** SQL for the condition of a pending run `p` that may be claimed; fits the index `runs_pending`. */
export const MAY_START = `p.readiness = 'ready' and not p.index_excluded and p.state = 'pending'`

/**
 * SQL that claims the runs whose places `found` lists, and answers them. Rows are found, locked and then written by their
 * place in the table; a join would let the server read all of it. Rows that another holds are passed over. No column is
 * written that stands in an index, except where runs are counted while they run: those leave the queue's index at once.
 */
export const claiming = (schema: string, found: string, limited: Limited, kind = KIND_OF_R): string => `
granted as (
  update ${schema}.runs r
  set state = 'running', attempt = r.attempt + 1, fence = r.fence + 1, worker_id = $1::text,
    claim_id = (select w.claim_id from wanted w where w.queue = r.queue limit 1),
    lease_until = (select lease_until from clock), started_at = (select now from clock)${limited === 'held' ? ', index_excluded = true' : ''}
  where r.ctid = any(array(${found}))
  returning ${kind} as kind, ${FIELDS}, r.claim_id, r.priority as urgency, r.due_at as began_due
),
checked_after as (
  insert into ${schema}.leases (check_at, claim_id, begun, ids)
  select (select lease_until from clock), w.claim_id, w.startable, list.ids from wanted w cross join lateral (
    select array(select g.id from granted g where g.claim_id = w.claim_id order by g.urgency desc, g.began_due, g.id) as ids
    offset 0
  ) list
  where cardinality(list.ids) > 0
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

/** SQL for the clock of a claim, with the end of the leases that it claims. */
export const claimClock = (schema: string): string => `clock as materialized (
  select now, now + ${spanOf('$2::float8')} as lease_until, age(pg_snapshot_xmin(pg_current_snapshot())::xid) as oldest,
    ${entriesRead(`${schema}.runs_pending`)} as read
  from (select ${schema}.now_at() as now) reading
)`

/** SQL for the rows of the answer; `shared` is an expression for the words about turns. */
export const answering = (schema: string, shared: string): string => `
select kind, ${COLUMNS.join(', ')} from granted
union all
select json_build_object('now', ${msOf('clock.now')}, 'coming', ${msOf('coming.due_at')},
    'limited', (select json_agg(queue) from asked where limited), 'shared', ${shared},
    'several', (select json_agg(name) from ${schema}.shared_queues where name in (select queue from wanted)),
    'read', ${entriesRead(`${schema}.runs_pending`)} - clock.read)::text,
  ${COLUMNS.map(() => 'null').join(', ')}
from clock cross join coming`

/**
 * Walks the queues and, in each, the priorities from high to low: a range of the index that ends where the future
 * begins, so that what is planned ahead costs nothing. `xmax` is who touched a row last: nobody, or somebody who was done
 * before the oldest of those now in flight began, or one who may not be.
 */
export const claimStatement = (schema: string, limited: Limited = 'left out'): Statement => ({
  rowMode: 'array',
  ...prepared(`
with ${claimClock(schema)},${wantedQueues(schema, { ...WANTED, scan_starts: 'text' }, limited)},${claiming(
    schema,
    `
    select found.place from wanted w cross join lateral (
      select due.place from generate_series(9, 0, -1) as level cross join lateral (
        select p.ctid as place from ${schema}.runs p
        where ${MAY_START} and p.queue = w.queue and p.priority = level::smallint
          and p.due_at >= coalesce(${instantAt('(w.scan_starts::float8[])[level + 1]')}, '-infinity')
          and p.due_at <= (select now from clock) and (p.xmax = '0'::xid or not $8::boolean or age(p.xmax) > (select oldest from clock))
        order by p.due_at
        limit w.number
        for update skip locked
      ) due
      limit w.number
    ) found
  `,
    limited,
    kindUnless(9),
  )}${answering(schema, 'null::json')}`),
})
