/** Queues as rows of SQLite: limits and pauses, and how full each is, for people; granting within the limits is `grant.ts`. */
import { toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { QueueRow, QueueStore } from '../contract/queues.ts'
import type { Connection } from './connection.ts'
import { nextDue } from './grant.ts'
import { textOf } from './rows.ts'
import type { Wake } from './wake.ts'

const MAX_COUNT = 10_000

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
const READY_RUNS = `state = 'pending' and gate = 'open'`
// From queue to queue by an index, however long each is. Those behind a gate are in no index by queue, and few.
export const PENDING_QUEUES = `
  select queue from (
    with recursive known(queue) as (
      select min(queue) from everytick_runs where ${READY_RUNS}
      union all
      select (select min(r.queue) from everytick_runs r where ${READY_RUNS} and r.queue > known.queue)
      from known where known.queue is not null)
    select queue from known where queue is not null)
  union select queue from (select queue from everytick_runs where gate <> 'open' limit ${MAX_COUNT})`
export const READY = `
  select count(*) as count from (
    select 1 from everytick_runs
    where state = 'pending' and gate = 'open' and queue = ? and priority in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9) and due_at <= ?
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
        const known = new Map(connection.all<KnownRow>(KNOWN).map((row) => [row.name, row]))
        const counts = connection.all<{ queue: string; count: number }>(RUNNING_BY_QUEUE)
        const running = new Map(counts.map(({ queue, count }) => [queue, count]))
        const pending = connection.all<{ queue: string }>(PENDING_QUEUES).map(({ queue }) => queue)
        const names = [...new Set([...known.keys(), ...running.keys(), ...pending])].sort()
        return names.map((name) => rowOf(name, { known: known.get(name), running: running.get(name) ?? 0 }))
      }),
  }
}
