/** What quotas count, in Postgres: each question by an index that has the workspace in front, and no further than the limit. */

import type { Executor } from '../contract/executor.ts'
import type { CountedQuota, NamedQuota, QuotaStore } from '../contract/quotas.ts'
import type { Connection } from './connection.ts'
import { type Ask, prepared, type Statement, within } from './statement.ts'

/** The order has no use but to be that of an index: otherwise the planner may read a whole table to find few rows. */
const counted = (rows: string, order: string): string =>
  `select count(*)::float8 as many from (select 1 from ${rows} order by ${order} limit $2::int) counted`

/** What running backfills may add to the runs they have open. */
const promised = (schema: string): string => `
  select coalesce(sum(greatest(0, least(concurrency - jsonb_array_length(progress -> 'open'),
    total - (progress ->> 'made')::bigint - (progress ->> 'kept')::bigint))), 0)::float8 as many
  from (
    select concurrency, total, progress from ${schema}.backfills
    where workspace = $1::text and state = 'running' order by workspace limit $2::int) running`

export function countStatement(schema: string, what: CountedQuota): Statement {
  switch (what) {
    case 'schedules':
      return prepared(counted(`${schema}.schedules where workspace = $1::text`, 'workspace, key'))
    case 'pendingRuns':
      return prepared(`
select least($2::int, runs.many + promised.many) as many
from (${counted(`${schema}.runs where workspace = $1::text and queue || '' >= ''`, 'workspace, queue')}) runs, (${promised(schema)}) promised`)
    default: {
      const kind = what === 'channels' ? 'channel' : 'alert_rule'
      const rows = `${schema}.documents where kind = '${kind}' and workspace = $1::text`
      return prepared(counted(rows, 'kind, workspace, id'))
    }
  }
}

/** From each name to the next, so that a name costs one step down the index whatever has it. The condition on names is that of the index. */
const walk = (table: string, column: string): string => `
  with recursive found (name) as (
    (select ${column} from ${table} where workspace = $1::text and ${column} || '' >= '' order by workspace, ${column} limit 1)
    union all
    select following.name from found cross join lateral (
      select ${column} as name from ${table} where workspace = $1::text and ${column} > found.name and ${column} || '' >= ''
      order by workspace, ${column} limit 1
    ) following
  )
  select name from found limit $2::int`

export function namesStatement(schema: string, what: NamedQuota): Statement {
  const tables = what === 'tags' ? [['tags', 'tag']] : ['schedules', 'runs'].map((table) => [table, 'queue'])
  const walks = tables.map(([table, column]) => `(${walk(`${schema}.${table}`, column!)})`)
  return prepared(`select name from (${walks.join(' union ')}) names order by name limit $2::int`)
}

export function createQuotas(connection: Connection, schema: string): QuotaStore {
  const counts = {
    schedules: countStatement(schema, 'schedules'),
    pendingRuns: countStatement(schema, 'pendingRuns'),
    channels: countStatement(schema, 'channels'),
    rules: countStatement(schema, 'rules'),
  }
  const names = { queues: namesStatement(schema, 'queues'), tags: namesStatement(schema, 'tags') }
  const asker = (tx: Executor | undefined): Ask => (tx ? within(tx) : connection.api.ask)
  return {
    async count(workspace, what, { upTo, tx }) {
      return (await asker(tx)<{ many: number }>(counts[what], [workspace, upTo]))[0]!.many
    },
    async names(workspace, what, { upTo, tx }) {
      return (await asker(tx)<{ name: string }>(names[what], [workspace, upTo])).map(({ name }) => name)
    },
  }
}
