/** Knows in which queues workspaces besides the default one have runs: only there are turns kept, and only there can a claim be shared; how it is shared is `claim-fair.ts`. */
import type { Connection } from './connection.ts'
import { FIRST_ID } from './rows.ts'
import { prepared, type Statement, texts } from './statement.ts'

/** The workspace of those who have no others. */
const ALONE = 'default'

export interface Sharing {
  /**
   * Before the first run of another workspace is inserted, by a write of its own; from then on it costs nothing. Whoever is
   * inside a transaction does not wait for it: it would need a second connection, and may hold what this waits for.
   */
  note(users: readonly User[], within?: 'transaction'): Promise<void>
  /** The same for queues in which workspaces are to be told apart, whoever uses them. */
  share(queues: readonly string[]): Promise<void>
  /** A claim has found that these are shared. */
  learn(queues: readonly string[]): void
  /** Which of these are shared; the database is asked about those that this process knows nothing of. */
  among(queues: readonly string[]): Promise<ReadonlySet<string>>
}

export interface User {
  readonly workspace: string
  readonly queue: string
}

export function createSharing(connection: Connection, schema: string): Sharing {
  const [insert, look, spread] = [shareStatement(schema), amongStatement(schema), spreadStatement(schema)]
  const known = new Map<string, boolean>()

  /** What the default workspace had waiting takes part, step by step; a claim in turns mends what this does not reach. */
  const takePart = async (queue: string): Promise<void> => {
    let after: string | null = FIRST_ID
    while (after !== null) {
      const [step]: { last: string | null }[] = await connection.api.ask(spread, [queue, after])
      after = step!.last
    }
  }

  const share = async (queues: readonly string[]): Promise<void> => {
    const unknown = [...new Set(queues)].filter((queue) => known.get(queue) !== true).sort()
    if (unknown.length === 0) return
    const news = await connection.api.ask<{ name: string }>(insert, [texts(unknown)])
    for (const queue of unknown) known.set(queue, true)
    for (const { name } of news) void takePart(name).catch(() => {})
  }

  const learn: Sharing['learn'] = (queues) => {
    for (const queue of queues) known.set(queue, true)
  }

  return {
    share,
    learn,
    async note(users, within) {
      const others = users.filter(({ workspace }) => workspace !== ALONE)
      if (others.length === 0) return
      const shared = share(others.map(({ queue }) => queue))
      if (within) shared.catch(() => {})
      else await shared
    },
    async among(queues) {
      const strange = queues.filter((queue) => !known.has(queue))
      if (strange.length > 0) {
        const rows = await connection.hot.ask<{ name: string }>(look, [texts(strange)])
        // Should it be shared meanwhile, the next claim in the usual order tells.
        for (const queue of strange) if (!known.has(queue)) known.set(queue, false)
        learn(rows.map(({ name }) => name))
      }
      return new Set(queues.filter((queue) => known.get(queue)))
    },
  }
}

/** SQL for whether a new run, by its workspace and queue, takes part in turns; such queues are few, and read once for all runs. */
export const isShared = (schema: string, { workspace, queue }: { workspace: string; queue: string }): string =>
  `(${workspace} <> '${ALONE}' or ${queue} = any(array(select name from ${schema}.shared_queues)))`

const shareStatement = (schema: string): Statement =>
  prepared(`
insert into ${schema}.shared_queues select name from unnest($1::text::text[]) as list (name)
on conflict do nothing
returning name`)

const STEP = 1000

/** In the order of ids, which every step goes on from; it waits for nobody, and for running ones least of all. */
const spreadStatement = (schema: string): Statement =>
  prepared(`
with step as materialized (
  select id, queue = $1::text and not in_fair_share and state = 'pending' as late from ${schema}.runs
  where id > $2::uuid order by id limit ${STEP}
),
held as materialized (
  select r.place from step cross join lateral (
    select ctid as place from ${schema}.runs where id = step.id and not in_fair_share and state = 'pending'
    limit 1 for update skip locked
  ) r
  where step.late
),
marked as (update ${schema}.runs set in_fair_share = true where ctid = any(array(select place from held)))
select case when count(*) = ${STEP} then (array_agg(id order by id desc))[1] end as last from step`)

const amongStatement = (schema: string): Statement =>
  prepared(`select name from ${schema}.shared_queues where name = any($1::text::text[])`)
