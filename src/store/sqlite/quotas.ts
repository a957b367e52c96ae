/** What quotas count, in SQLite: each question by an index that has the workspace in front, and no further than the limit. */
import type { Executor } from '../contract/executor.ts'
import type { CountedQuota, NamedQuota, QuotaStore } from '../contract/quotas.ts'
import type { Connection } from './connection.ts'

const counted = (rows: string): string => `select count(*) as many from (select 1 from ${rows} limit ?)`

const ofKind = (kind: string): string => counted(`everytick_documents where kind = '${kind}' and workspace = ?`)

export const COUNTS: Readonly<Record<CountedQuota, string>> = {
  schedules: counted('everytick_schedules where workspace = ?'),
  pendingRuns: counted("everytick_runs where workspace = ? and queue || '' >= ''"),
  channels: ofKind('channel'),
  rules: ofKind('alert_rule'),
}

/** What running backfills may add to the runs they have open. */
export const PROMISED = `
  select coalesce(sum(max(0, min(concurrency - json_array_length(progress, '$.open'),
    total - progress ->> '$.made' - progress ->> '$.kept'))), 0) as many
  from (
    select concurrency, total, progress from everytick_backfills where workspace = ? and state = 'running' limit ?)`

/** From each name to the next, so that a name costs one step down the index whatever has it. The condition on names is that of the index. */
const walk = (table: string, column: string): string => `
  select name from (
    with recursive found (name) as (
      select min(${column}) from ${table} where workspace = ? and ${column} || '' >= ''
      union all
      select (select min(${column}) from ${table} where workspace = ? and ${column} > found.name and ${column} || '' >= '')
      from found where found.name is not null)
    select name from found where name is not null limit ?)`

export const NAMES: Readonly<Record<NamedQuota, readonly string[]>> = {
  queues: [walk('everytick_schedules', 'queue'), walk('everytick_runs', 'queue')],
  tags: [walk('everytick_tags', 'tag')],
}

type All = <R>(text: string, ...values: (string | number)[]) => R[] | Promise<R[]>

export function quotaStore(connection: Connection): QuotaStore {
  /** Of the caller's own connection, where there is a transaction of the caller. */
  const reading = <T>(tx: Executor | undefined, work: (all: All) => Promise<T>): Promise<T> =>
    work(
      tx
        ? async <R>(text: string, ...values: (string | number)[]) => (await tx.query(text, values)).rows as R[]
        : <R>(text: string, ...values: (string | number)[]) =>
            connection.read(() => connection.all<R>(text, ...values)),
    )
  return {
    count: (workspace, what, { upTo, tx }) =>
      reading(tx, async (all) => {
        const many = async (text: string): Promise<number> =>
          (await all<{ many: number }>(text, workspace, upTo))[0]!.many
        const found = await many(COUNTS[what])
        if (what !== 'pendingRuns' || found >= upTo) return found
        return Math.min(upTo, found + (await many(PROMISED)))
      }),
    names: (workspace, what, { upTo, tx }) =>
      reading(tx, async (all) => {
        const found = new Set<string>()
        for (const text of NAMES[what])
          for (const { name } of await all<{ name: string }>(text, workspace, workspace, upTo)) found.add(name)
        return [...found].sort().slice(0, upTo)
      }),
  }
}
