/** Queues as rows of SQLite: limits and pauses, and how full each is, for people; claiming within the limits is `claim.ts`. */
import { setImmediate as turn } from 'node:timers/promises'
import { toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { QueueRow, QueueStore, SweptQueue } from '../contract/queues.ts'
import { nextDue } from './claim.ts'
import type { Connection } from './connection.ts'
import { textOf } from './rows.ts'
import type { Wake } from './wake.ts'

const MAX_COUNT = 10_000
const AT_ONCE = 10

const CONFIGURE = `
  insert into everytick_queues (name, limits) values (?, ?)
  on conflict (name) do update set limits = excluded.limits`
const PAUSE = `
  insert into everytick_queues (name, pause) values (?, ?)
  on conflict (name) do update set pause = excluded.pause`
const RESUME = `update everytick_queues set pause = null where name = ? and pause is not null`
const KNOWN = `select name, limits, pause from everytick_queues`
export const RUNNING_BY_QUEUE = `
  select queue, count(*) as count from everytick_runs indexed by everytick_runs_lease
  where state = 'running' group by queue`
const READY_RUNS = `state = 'pending' and readiness = 'ready'`
// From queue to queue by an index, however long each is. Those not ready are in no index by queue, and few.
export const PENDING_QUEUES = `
  select queue from (
    with recursive known(queue) as (
      select min(queue) from everytick_runs where ${READY_RUNS}
      union all
      select (select min(r.queue) from everytick_runs r where ${READY_RUNS} and r.queue > known.queue)
      from known where known.queue is not null)
    select queue from known where queue is not null)
  union select queue from (select queue from everytick_runs where readiness <> 'ready' limit ${MAX_COUNT})`
/** The same behind a name, so many of them. */
export const NEXT_QUEUES = `
  with recursive known(queue) as (
    select min(queue) from everytick_runs where ${READY_RUNS} and queue > ?1
    union all
    select (select min(r.queue) from everytick_runs r where ${READY_RUNS} and r.queue > known.queue)
    from known where known.queue is not null)
  select queue from known where queue is not null limit ?2`
export const WORKSPACE = `select workspace from everytick_runs where ${READY_RUNS} and queue = ? limit 1`
export const READY = `
  select count(*) as count from (
    select 1 from everytick_runs
    where state = 'pending' and readiness = 'ready' and queue = ? and priority in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9) and due_at <= ?
    limit ${MAX_COUNT})`

interface KnownRow {
  readonly name: string
  readonly limits: string
  readonly pause: string | null
}

export function queueStore(connection: Connection, clock: Clock, wake: Wake): QueueStore {
  function rowOf(name: string, { known, running }: { known: KnownRow | undefined; running: number }): QueueRow {
    const now = clock.now()
    const [ready] = connection.all<{ count: number }>(READY, name, now)
    const oldest = nextDue(connection, name)
    return {
      name,
      limits: known === undefined ? {} : (JSON.parse(known.limits) as QueueRow['limits']),
      pause: known?.pause ? (JSON.parse(known.pause) as QueueRow['pause']) : null,
      ready: ready?.count ?? 0,
      running,
      oldestDueAt: oldest !== null && oldest <= now ? oldest : null,
    }
  }

  const knownRows = (): ReadonlyMap<string, KnownRow> =>
    new Map(connection.all<KnownRow>(KNOWN).map((row) => [row.name, row]))
  const runningCounts = (): ReadonlyMap<string, number> => {
    const counts = connection.all<{ queue: string; count: number }>(RUNNING_BY_QUEUE)
    return new Map(counts.map(({ queue, count }) => [queue, count]))
  }

  return {
    async configure(queues) {
      if (queues.length === 0) return
      const rows = queues.map(({ name, limits }) => [textOf(name, 'queue'), toJsonText(limits, { what: 'limits' })])
      await connection.write(() => {
        for (const row of rows) connection.run(CONFIGURE, ...row)
      }, rows.length)
      wake.hint({ kind: 'runs', queues: queues.map(({ name }) => name) })
    },
    async pause(name, { reason, by }) {
      const queue = textOf(name, 'queue')
      await connection.write(() => {
        connection.run(PAUSE, queue, toJsonText({ reason, by, at: clock.now() }, { what: 'pause' }))
      })
    },
    async resume(name) {
      const resumed = await connection.write(() => connection.run(RESUME, name) > 0)
      if (resumed) wake.hint({ kind: 'runs', queues: [name] })
      return resumed
    },
    list: () =>
      connection.read(() => {
        const [known, running] = [knownRows(), runningCounts()]
        const pending = connection.all<{ queue: string }>(PENDING_QUEUES).map(({ queue }) => queue)
        const names = [...new Set([...known.keys(), ...running.keys(), ...pending])].sort()
        return names.map((name) => rowOf(name, { known: known.get(name), running: running.get(name) ?? 0 }))
      }),
    async sweep({ after, limit, names }) {
      const [known, running, pending] = await connection.read(() => [
        knownRows(),
        runningCounts(),
        connection.all<{ queue: string }>(NEXT_QUEUES, after, limit).map(({ queue }) => queue),
      ])
      const all = [...new Set([...known.keys(), ...running.keys(), ...names, ...pending])].sort()
      const rows: SweptQueue[] = []
      // A few at a time: in each up to ten thousand runs are counted.
      for (let from = 0; from < all.length; from += AT_ONCE) {
        const some = all.slice(from, from + AT_ONCE)
        const swept = (name: string): SweptQueue => ({
          ...rowOf(name, { known: known.get(name), running: running.get(name) ?? 0 }),
          configured: known.has(name),
          workspace: connection.all<{ workspace: string }>(WORKSPACE, name)[0]?.workspace ?? null,
        })
        rows.push(...(await connection.read(() => some.map(swept))))
        await turn()
      }
      return { rows, next: pending.length < limit ? null : (pending.at(-1) ?? null) }
    },
  }
}
