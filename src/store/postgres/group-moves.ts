/** Writes the moves in groups, each group wholly or not at all; which moves they are is decided by `plan/overlap.ts`. */
import type { GroupMove } from '../../plan/overlap.ts'
import type { GroupStore } from '../contract/groups.ts'
import type { Connection } from './connection.ts'
import { isBusy, isTaken } from './failure.ts'
import { passedBy } from './non-runs.ts'
import { NOBODY, RUN_COLUMNS } from './rows.ts'
import { MANY, plain, prepared, rowsOf, type Statement, texts, type Value } from './statement.ts'
import type { Wake } from './wake.ts'

type Moves = readonly (readonly GroupMove[])[]

interface Row {
  /** In which a run may be claimed now. */
  queue: string | null
  /** Whether a running run is to stop. */
  cancels: boolean
}

/** How long moves wait for a run, or for a concurrency group in which somebody is opening one in a transaction of their own. */
const WAIT_LIMIT_MS = 200
/** How long a process may be silent while it holds runs, before the server lets go of them. */
const SILENCE_MS = 5000

export function createGroupMoves(connection: Connection, wake: Wake, schema: string): GroupStore['apply'] {
  const [hold, move] = [holdStatement(schema), moveStatement(schema)]

  /** The second statement sees the runs as they are while the first keeps them from changing. */
  const write = (moves: Moves): Promise<Row[]> =>
    connection.hot.transact(async (ask) => {
      const ids = moves.flatMap((group) => group.map(({ id }) => id)).sort()
      await ask(hold, [plain(ids)])
      return ask<Row>(move, moveValues(moves))
    })

  /** Where one group was opened by another meanwhile, the others are written one by one. */
  const apply = async (moves: Moves): Promise<Row[]> => {
    try {
      return await write(moves)
    } catch (error) {
      if (!isBusy(error) && !isTaken(error)) throw error
      if (moves.length === 1) return []
      const rows: Row[] = []
      for (const group of moves) rows.push(...(await apply([group])))
      return rows
    }
  }

  return async (moves) => {
    const some = moves.filter(({ length }) => length > 0)
    if (some.length === 0) return
    const rows = await apply(some)
    const queues = new Set(rows.flatMap(({ queue }) => queue ?? []))
    if (queues.size > 0) wake.tell({ kind: 'runs', queues: [...queues] })
    if (rows.some(({ cancels }) => cancels)) wake.tell({ kind: 'cancels' })
  }
}

export function moveValues(moves: Moves): Value[] {
  const list = moves.flatMap((group, n) => group.map((move) => ({ n, move })))
  return [
    plain(list.map(({ n }) => n)),
    texts(list.map(({ move }) => move.kind)),
    plain(list.map(({ move }) => move.id)),
    texts(list.map(({ move }) => (move.kind === 'skip' ? move.behind : ''))),
  ]
}

/** Runs in order of their ids, so that two such batches cannot wait for each other in a circle. */
const holdStatement = (schema: string): Statement =>
  prepared(`
with patience as materialized (
  select set_config('lock_timeout', '${WAIT_LIMIT_MS}ms', true) is not null
    and set_config('idle_in_transaction_session_timeout', '${SILENCE_MS}ms', true) is not null as is_set
)
select r.id from patience cross join unnest($1::text::uuid[]) as list (id) cross join lateral (
  select id from ${schema}.runs where id = list.id and patience.is_set limit 1 for update
) r`)

/** Whether the move `g` still applies to its run `r`. A concurrency group is free, too, when its open run ends by a move before it. */
const applies = (schema: string): string => `case g.kind
    when 'ready' then r.readiness <> 'ready' and (
      select 1 from ${schema}.runs o where o.concurrency_group = r.concurrency_group and o.readiness = 'ready'
        and (o.state = 'running' or o.id <> all(array(select id from given where kind in ('skip', 'cancel'))))
      limit 1
    ) is null
    when 'block' then r.readiness <> 'ready'
    when 'skip' then r.state = 'pending' and r.fence = 0 and (select 1 from ${schema}.runs b where b.id = g.behind::uuid limit 1) is not null
    else true
  end`

const MOVED = RUN_COLUMNS.filter((column) => !['state', 'cancel_requested', 'lease_until'].includes(column))

/**
 * Runs end before others are opened, because the schema looks at each row as it is written.
 * Neighbours among the occurrences skipped behind the same run become one record. A run that somebody made by hand has no
 * occurrence to account for, and must not vanish without a trace: it ends as cancelled.
 */
export const moveStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
given as materialized (${rowsOf({ n: 'int', kind: 'text', id: 'uuid', behind: 'text' })}),
seen as materialized (
  select g.n, g.kind, g.id, g.behind, r.is_held, r.is_slot, r.applies
  from given g left join lateral (
    select r.state = 'running' and r.worker_id <> '${NOBODY}' as is_held, r.schedule_id is not null and r.scheduled_at is not null and r.trigger <> 'backfill' as is_slot,
      ${applies(schema)} as applies
    from ${schema}.runs r where r.id = g.id limit 1
  ) r on true
),
todo as materialized (
  select s.* from seen s join (select n from seen group by n having bool_and(applies is true)) fit on fit.n = s.n ${MANY}
),
gone as (
  delete from ${schema}.runs r
  where r.id = any(array(select id from todo where kind = 'skip' or (kind = 'cancel' and not is_held)))
  returning r.*
),
gated as (
  update ${schema}.runs r set readiness = case t.kind when 'ready' then 'ready' else 'blocked' end
  from todo t
  where r.id = any(array(select id from todo where kind in ('ready', 'block'))) and r.id = t.id
    and (select count(*) from gone) >= 0
  returning t.kind, r.queue
),
marked as (
  update ${schema}.runs r set cancel_requested = true
  where r.id = any(array(select id from todo where kind = 'cancel' and is_held)) and not r.cancel_requested
  returning r.id, r.schedule_id
),
taken as materialized (
  select gone.*, t.behind, t.kind = 'skip' and t.is_slot as is_skipped from gone join todo t on t.id = gone.id
),
ended as materialized (select * from taken where not is_skipped),
kept as (
  insert into ${schema}.history (${MOVED.join(', ')}, state, cancel_requested, finished_at, result)
  select ${MOVED.map((column) => `ended.${column}`).join(', ')}, 'cancelled', true, clock.now, 'null' from ended cross join clock
),
noted as (
  insert into ${schema}.journal (at, kind, run_id, schedule_id, data)
  select clock.now, 'cancel_requested', asked.id, asked.schedule_id, jsonb_build_object('by', 'overlap')
  from (select id, schedule_id from marked union all select id, schedule_id from ended where not cancel_requested) asked
  cross join clock
),
skipped as materialized (
  select schedule_id, scheduled_at, slot_start_at, behind,
    slot_start_at is distinct from lag(scheduled_at) over (partition by schedule_id, behind order by scheduled_at) as is_first
  from taken where is_skipped
),
ranges as materialized (
  select *, count(*) filter (where is_first) over (partition by schedule_id, behind order by scheduled_at) as range from skipped
),${passedBy(
    schema,
    `
    select schedule_id, min(scheduled_at) as from_at, max(scheduled_at) as to_at,
      (array_agg(slot_start_at order by scheduled_at))[1] as after_at, count(*) as count,
      'skipped' as state, 'overlap' as reason, behind as detail
    from ranges group by schedule_id, behind, range`,
  )}
select queue, false as cancels from gated where kind = 'ready' group by queue
union all
select null, true where exists (select 1 from marked)`)
