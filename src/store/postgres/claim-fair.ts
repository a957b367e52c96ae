/** The claim in turns: shares what is claimed of a queue equally among workspaces that have something due; limits are `claim-limited.ts`. */
import {
  answering,
  claimClock,
  claiming,
  claimValues,
  type Limited,
  MAY_START,
  type NumberedRequest,
  WANTED,
  wantedQueues,
} from './claim.ts'
import { plain, prepared, type Statement, texts, unseen, type Value } from './statement.ts'

type NumberedWanted = NumberedRequest['wanted'][number]

/** A queue with how many runs of one workspace may be worked on at once, and how many are. */
export interface FairWanted extends NumberedWanted {
  readonly perWorkspace?: number
  readonly running?: Readonly<Record<string, number>>
}

export interface FairRequest extends NumberedRequest {
  readonly wanted: readonly FairWanted[]
}

/** Workspaces that have their turn in one claim. */
const MOST = 32
/** Steps from one workspace, or priority in it, to the next, in one claim. */
const PROBES = 320
/** So many due runs beyond those wanted make a backlog; with fewer, all of them are looked at instead. */
const BACKLOG = 64

export function fairValues(request: FairRequest): Value[] {
  const { wanted } = request
  const busy = wanted.flatMap(({ queue, running = {} }) =>
    Object.entries(running).map(([workspace, number]) => ({ queue, workspace, number })),
  )
  return [
    ...claimValues(request),
    texts(wanted.map(({ lastWorkspace }) => lastWorkspace ?? null)),
    plain(wanted.map(({ perWorkspace }) => perWorkspace ?? null)),
    texts(busy.map(({ queue }) => queue)),
    texts(busy.map(({ workspace }) => workspace)),
    plain(busy.map(({ number }) => number)),
  ]
}

/**
 * Which workspaces have something due? Where little is due, that is read off the oldest of it. Behind a backlog they are
 * looked for from one to the next, by jumps in the index, beginning after the one whose turn was last and coming around
 * once. Each then gets one run, each of those that have more a second, and so on: that makes their shares, and only what
 * is in a share is locked, whichever of the due runs of the workspace are free. A run that does not take part in turns yet,
 * because the queue was not shared when it came, does so from then on.
 */
export const fairStatement = (schema: string, limited: Limited = 'left out'): Statement => ({
  rowMode: 'array',
  ...prepared(`
with recursive ${claimClock(schema)},${wantedQueues(schema, { ...WANTED, last_workspace: 'text', cap: 'int' }, limited)},
busy as materialized (select * from unnest(${unseen(9, 'text')}, ${unseen(10, 'text')}, ${unseen(11, 'int')}) as list (queue, workspace, running)),
near as materialized (
  select w.queue, due.workspace, due.priority, due.place, due.in_fair_share from wanted w cross join lateral (
    select oldest.* from generate_series(9, 0, -1) as level cross join lateral (
      select p.workspace, p.priority, p.ctid as place, p.in_fair_share from ${schema}.runs p
      where ${MAY_START} and p.queue = w.queue and p.priority = level::smallint and p.due_at <= (select now from clock)
      order by p.due_at
      limit w.number + ${BACKLOG}
    ) oldest
    limit w.number + ${BACKLOG}
  ) due
),
mended as (
  update ${schema}.runs set in_fair_share = true where ctid = any(array(
    select r.place from near n cross join lateral (
      select ctid as place from ${schema}.runs where ctid = n.place and not in_fair_share for update skip locked
    ) r where not n.in_fair_share
  ))
),
long as materialized (
  select w.queue from wanted w where (select count(*) from near n where n.queue = w.queue) = w.number + ${BACKLOG}
),
walk as (${walking(schema)}),
level as materialized (
  select distinct n.queue, n.workspace, n.priority from near n where n.queue not in (select queue from long)
  union all
  select queue, workspace, priority from walk where is_due
),
stop as materialized (
  select s.queue, s.workspace, s.number, s.free,
    row_number() over (partition by s.queue order by s.last_workspace is not null and s.workspace <= s.last_workspace, s.workspace) as place,
    least(s.number, 4 * ceil(s.number::float8 / count(*) over (partition by s.queue)))::int as most
  from (
    select l.queue, l.workspace, w.number, w.last_workspace, w.cap - ${RUNNING('l')} as free
    from (select distinct queue, workspace from level) l join wanted w on w.queue = l.queue
  ) s
  where s.free is null or s.free > 0
),
room as materialized (
  select s.*, least(s.free, s.most, (
    select count(*) from (
      select 1 from level l cross join lateral (
        select 1 from ${schema}.runs p where ${DUE_AT_STOP('s')} limit s.most
      ) due
      where l.queue = s.queue and l.workspace = s.workspace
      limit s.most
    ) due
  )) as size
  from stop s where s.place <= s.number
),
share as materialized (
  select queue, workspace, place, count(*) as size from (
    select r.*, row_number() over (partition by r.queue order by nth, r.place) as n
    from room r cross join lateral generate_series(1, r.size) as nth
  ) one
  where n <= number group by queue, workspace, place
),
shared as materialized (
  select w.queue, (
    coalesce(
      (select k.workspace from walk k where k.queue = w.queue and k.step = ${PROBES}),
      (select s.workspace from share s where s.queue = w.queue order by s.place desc limit 1)
    )
  ) as last_workspace, coalesce((select bool_or(k.step = ${PROBES} or k.found = k.most) from walk k where k.queue = w.queue), false)
    or coalesce((select bool_or(r.size = r.most) from room r where r.queue = w.queue), false)
    or coalesce((select bool_or(not n.in_fair_share) from near n where n.queue = w.queue), false) as more
  from wanted w
),${claiming(
    schema,
    `
    select found.place from share s cross join lateral (
      select due.place from (
        select priority from level where queue = s.queue and workspace = s.workspace order by priority desc
      ) l cross join lateral (
        select p.ctid as place from ${schema}.runs p
        where ${DUE_AT_STOP('s')}
        order by p.due_at
        limit s.size
        for update skip locked
      ) due
      limit s.size
    ) found
  `,
    limited,
  )}${answering(schema, `(select json_object_agg(queue, json_build_object('lastWorkspace', last_workspace, 'more', more)) from shared)`)}`),
})

/** What runs for the workspace of `of`. */
const RUNNING = (of: string): string =>
  `coalesce((select b.running from busy b where b.queue = ${of}.queue and b.workspace = ${of}.workspace limit 1), 0)`

/** In the words of the index `runs_fair`. */
const IN_FAIR_SHARE = `${MAY_START} and p.in_fair_share`

const DUE_AT_STOP = (s: string): string =>
  `${IN_FAIR_SHARE} and p.queue = ${s}.queue and p.workspace = ${s}.workspace and p.priority = l.priority
          and p.due_at <= (select now from clock)`

/**
 * One row is one priority of one workspace: the next in the index after the row before it, with its first due instant. At
 * the end of the index it begins again, once, up to the workspace after which it began. The last workspace with something
 * due is walked through to its last priority.
 */
const walking = (schema: string): string => `
  select w.queue, w.cap, w.last_workspace as until, least(w.number, ${MOST}) as most, w.last_workspace is null as around,
    coalesce(w.last_workspace, '') collate "C" as workspace, (case when w.last_workspace is null then -1 else 10 end)::smallint as priority,
    false as is_due, null::text collate "C" as latest, 0 as found, 0 as step
  from wanted w join long on long.queue = w.queue
  union all
  select k.queue, k.cap, k.until, k.most, n.around, n.workspace, n.priority, n.is_due,
    case when n.is_due then n.workspace else k.latest end,
    k.found + (n.is_due and n.workspace is distinct from k.latest)::int, k.step + 1
  from walk k cross join lateral (
    select o.workspace, o.priority, o.around, o.due_at <= (select now from clock) and (k.cap is null or k.cap > coalesce(
      (select b.running from busy b where b.queue = k.queue and b.workspace = o.workspace limit 1), 0)) as is_due
    from (
      (
        select p.workspace, p.priority, p.due_at, k.around from ${schema}.runs p
        where ${IN_FAIR_SHARE} and p.queue = k.queue and (p.workspace, p.priority) > (k.workspace, k.priority)
        order by p.workspace, p.priority, p.due_at
        limit 1
      )
      union all
      (
        select p.workspace, p.priority, p.due_at, true from ${schema}.runs p
        where not k.around and ${IN_FAIR_SHARE} and p.queue = k.queue
        order by p.workspace, p.priority, p.due_at
        limit 1
      )
      limit 1
    ) o
    where (not o.around or k.until is null or o.workspace <= k.until)
      and (k.found < k.most or o.workspace = k.workspace)
  ) n
  where k.step < ${PROBES}
`
