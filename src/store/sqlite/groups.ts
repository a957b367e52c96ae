/** Concurrency groups in SQLite: which of them need a decision, and the moves that follow, group by group; the decision is `plan/overlap.ts`. */
import { setImmediate as afterIo } from 'node:timers'
import { type ConcurrencyGroup, type GroupMove, type GroupRun, OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import type { Clock } from '../../time/clock.ts'
import type { GroupStore } from '../contract/groups.ts'
import type { Connection } from './connection.ts'
import { type Effects, move } from './group-moves.ts'
import { PLACE } from './group-order.ts'
import type { Wake } from './wake.ts'

/** Runs that are not ready that are handed to one decision. */
const IN_LINE = 100

/** Concurrency groups that are passed through in one go, which nothing can interrupt: a few milliseconds of it. */
const STEPS = 1000

// From group to group by the index, however many runs each has.
const EVERY = `
  with recursive gated(concurrency_group, step) as (
    select min(concurrency_group), 1 from everytick_runs where readiness <> 'ready' and concurrency_group > ?
    union all
    select (select min(r.concurrency_group) from everytick_runs r where r.readiness <> 'ready' and r.concurrency_group > gated.concurrency_group), step + 1
    from gated where gated.concurrency_group is not null and step < ${STEPS})`
const THESE = `
  with gated(concurrency_group) as (
    select distinct value from json_each(?)
    where exists (select 1 from everytick_runs r where r.concurrency_group = value and r.readiness <> 'ready'))`
// A run that came due far down the line waits until it is among those that are handed out: till then it changes nothing.
const UNDECIDED = `(
    not exists (select 1 from everytick_runs r where r.concurrency_group = gated.concurrency_group and r.readiness = 'ready')
      and exists (select 1 from everytick_runs r where r.concurrency_group = gated.concurrency_group and r.readiness <> 'ready' and r.due_at <= ? + ${OPEN_AHEAD_MS})
    or exists (select 1 from everytick_runs r where r.concurrency_group = gated.concurrency_group and r.readiness = 'undecided' and r.due_at <= ?)
      and exists (
        select 1 from (
          select r.readiness, r.due_at from everytick_runs r where r.concurrency_group = gated.concurrency_group and r.readiness <> 'ready'
          order by coalesce(r.scheduled_at, r.due_at), r.id limit ${IN_LINE}) near
        where near.readiness = 'undecided' and near.due_at <= ?))`
/** Whether anybody stands not ready at all, which is asked first because most of the time nobody does. */
export const ANYBODY = `select exists (select 1 from everytick_runs where readiness <> 'ready') as anybody`
export const GROUP_SCAN = `${EVERY} select concurrency_group, ${UNDECIDED} as undecided from gated where concurrency_group is not null`
export const GROUP_SCAN_OF = `${THESE} select concurrency_group from gated where ${UNDECIDED} limit ?`

const GROUP_RUN = `json_object('id', id, 'scheduleId', schedule_id, 'state', state, 'readiness', readiness, 'overlap', overlap,
  'scheduledAt', scheduled_at, 'dueAt', due_at, 'fence', fence,
  'cancelRequested', json(iif(cancel_requested, 'true', 'false'))) as run`
export const OPEN_RUN = `select ${GROUP_RUN} from everytick_runs where concurrency_group = ? and readiness = 'ready'`
export const RUNS_IN_LINE = `
  select ${GROUP_RUN} from everytick_runs where concurrency_group = ? and readiness <> 'ready' order by ${PLACE}, id limit ${IN_LINE}`

export function groupStore(connection: Connection, clock: Clock, wake: Wake): GroupStore {
  function read(group: string): ConcurrencyGroup {
    const rows = [OPEN_RUN, RUNS_IN_LINE].flatMap((text) => connection.all<{ run: string }>(text, group))
    return { group, runs: rows.map(({ run }) => JSON.parse(run) as GroupRun) }
  }

  /** The first groups that need a decision; the event loop has its turn after every stretch of them. */
  async function undecided(now: number, limit: number): Promise<string[]> {
    const found: string[] = []
    for (let [after, more] = ['', true]; more && found.length < limit; ) {
      const rows = await connection.read(() =>
        connection.all<{ concurrency_group: string; undecided: number }>(GROUP_SCAN, after, now, now, now),
      )
      for (const row of rows) if (row.undecided === 1) found.push(row.concurrency_group)
      after = rows.at(-1)?.concurrency_group ?? ''
      more = rows.length === STEPS
      if (more) await new Promise((resolve) => afterIo(resolve))
    }
    return found.slice(0, limit)
  }

  /** Wholly or not at all: the first move that does not apply undoes those before it. */
  function apply(moves: readonly GroupMove[], now: number): Effects[] {
    connection.exec('savepoint concurrency_group')
    const done: Effects[] = []
    for (const one of moves) {
      const effects = move(connection, one, now)
      if (effects === null) {
        connection.exec('rollback to concurrency_group; release concurrency_group')
        return []
      }
      done.push(effects)
    }
    connection.exec('release concurrency_group')
    return done
  }

  return {
    async look({ of, limit }) {
      const now = clock.now()
      if (of !== undefined) {
        return connection.read(() => {
          const these = connection.all<{ concurrency_group: string }>(
            GROUP_SCAN_OF,
            JSON.stringify(of),
            now,
            now,
            now,
            limit,
          )
          return { now, groups: these.map((row) => read(row.concurrency_group)) }
        })
      }
      const [gated] = await connection.read(() => connection.all<{ anybody: number }>(ANYBODY))
      if (gated?.anybody !== 1) return { now, groups: [], empty: true }
      const all = await undecided(now, limit)
      return { now, groups: await connection.read(() => all.map(read)), empty: false }
    },
    async apply(groups) {
      const moves = groups.flat().length
      if (moves === 0) return
      const done = await connection.write(() => {
        const now = clock.now()
        return groups.flatMap((group) => apply(group, now))
      }, moves)
      const queues = new Set(done.flatMap(({ opened }) => opened ?? []))
      if (queues.size > 0) wake.hint({ kind: 'runs', queues: [...queues] })
      if (done.some(({ cancels }) => cancels)) wake.hint({ kind: 'cancels' })
    },
  }
}
