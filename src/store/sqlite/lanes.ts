/** Lanes in SQLite: which of them need a decision, and the moves that follow, lane by lane; the decision is `plan/overlap.ts`. */
import { setImmediate as afterIo } from 'node:timers'
import { type Lane, type LaneMove, type LaneRun, OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import type { Clock } from '../../time/clock.ts'
import type { LaneStore } from '../contract/lanes.ts'
import type { Connection } from './connection.ts'
import { PLACE } from './lane-line.ts'
import { type Effects, move } from './lane-moves.ts'
import type { Wake } from './wake.ts'

/** Runs behind the gate that are handed to one decision. */
const IN_LINE = 100

/** Lanes that are passed through in one go, which nothing can interrupt: a few milliseconds of it. */
const STEPS = 1000

// From lane to lane by the index, however many runs each has.
const EVERY = `
  with recursive gated(lane, step) as (
    select min(lane), 1 from everytick_runs where gate <> 'open' and lane > ?
    union all
    select (select min(r.lane) from everytick_runs r where r.gate <> 'open' and r.lane > gated.lane), step + 1
    from gated where gated.lane is not null and step < ${STEPS})`
const THESE = `
  with gated(lane) as (
    select distinct value from json_each(?)
    where exists (select 1 from everytick_runs r where r.lane = value and r.gate <> 'open'))`
// A run that came due far down the line waits until it is among those that are handed out: till then it changes nothing.
const UNDECIDED = `(
    not exists (select 1 from everytick_runs r where r.lane = gated.lane and r.gate = 'open')
      and exists (select 1 from everytick_runs r where r.lane = gated.lane and r.gate <> 'open' and r.due_at <= ? + ${OPEN_AHEAD_MS})
    or exists (select 1 from everytick_runs r where r.lane = gated.lane and r.gate = 'closed' and r.due_at <= ?)
      and exists (
        select 1 from (
          select r.gate, r.due_at from everytick_runs r where r.lane = gated.lane and r.gate <> 'open'
          order by coalesce(r.scheduled_at, r.due_at), r.id limit ${IN_LINE}) near
        where near.gate = 'closed' and near.due_at <= ?))`
/** Whether anybody stands behind a gate at all, which is asked first because most of the time nobody does. */
export const ANYBODY = `select exists (select 1 from everytick_runs where gate <> 'open') as anybody`
export const LOOK = `${EVERY} select lane, ${UNDECIDED} as undecided from gated where lane is not null`
export const LOOK_AT = `${THESE} select lane from gated where ${UNDECIDED} limit ?`

const LANE_RUN = `json_object('id', id, 'scheduleId', schedule_id, 'state', state, 'gate', gate, 'overlap', overlap,
  'scheduledAt', scheduled_at, 'dueAt', due_at, 'fence', fence,
  'cancelRequested', json(iif(cancel_requested, 'true', 'false'))) as run`
export const OPEN_RUN = `select ${LANE_RUN} from everytick_runs where lane = ? and gate = 'open'`
export const RUNS_IN_LINE = `
  select ${LANE_RUN} from everytick_runs where lane = ? and gate <> 'open' order by ${PLACE}, id limit ${IN_LINE}`

export function laneStore(connection: Connection, clock: Clock, wake: Wake): LaneStore {
  function read(lane: string): Lane {
    const rows = [OPEN_RUN, RUNS_IN_LINE].flatMap((text) => connection.all<{ run: string }>(text, lane))
    return { lane, runs: rows.map(({ run }) => JSON.parse(run) as LaneRun) }
  }

  /** The first lanes that need a decision; the event loop has its turn after every stretch of them. */
  async function undecided(now: number, limit: number): Promise<string[]> {
    const found: string[] = []
    for (let [after, more] = ['', true]; more && found.length < limit; ) {
      const rows = await connection.read(() =>
        connection.all<{ lane: string; undecided: number }>(LOOK, after, now, now, now),
      )
      for (const row of rows) if (row.undecided === 1) found.push(row.lane)
      after = rows.at(-1)?.lane ?? ''
      more = rows.length === STEPS
      if (more) await new Promise((resolve) => afterIo(resolve))
    }
    return found.slice(0, limit)
  }

  /** Wholly or not at all: the first move that does not apply undoes those before it. */
  function apply(moves: readonly LaneMove[], now: number): Effects[] {
    connection.exec('savepoint lane')
    const done: Effects[] = []
    for (const one of moves) {
      const effects = move(connection, one, now)
      if (effects === null) {
        connection.exec('rollback to lane; release lane')
        return []
      }
      done.push(effects)
    }
    connection.exec('release lane')
    return done
  }

  return {
    async look({ of, limit }) {
      const now = clock.now()
      if (of !== undefined) {
        return connection.read(() => {
          const these = connection.all<{ lane: string }>(LOOK_AT, JSON.stringify(of), now, now, now, limit)
          return { now, lanes: these.map(({ lane }) => read(lane)) }
        })
      }
      const [gated] = await connection.read(() => connection.all<{ anybody: number }>(ANYBODY))
      if (gated?.anybody !== 1) return { now, lanes: [], empty: true }
      const all = await undecided(now, limit)
      return { now, lanes: await connection.read(() => all.map(read)), empty: false }
    },
    async apply(lanes) {
      const moves = lanes.flat().length
      if (moves === 0) return
      const done = await connection.write(() => {
        const now = clock.now()
        return lanes.flatMap((lane) => apply(lane, now))
      }, moves)
      const queues = new Set(done.flatMap(({ opened }) => opened ?? []))
      if (queues.size > 0) wake.hint({ kind: 'runs', queues: [...queues] })
      if (done.some(({ cancels }) => cancels)) wake.hint({ kind: 'cancels' })
    },
  }
}
