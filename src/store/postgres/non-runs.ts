/** The SQL that records occurrences which became no run, folded into ranges; which ones they are is decided by the verbs. */
import type { NonRun } from '../../plan/non-run.ts'
import { instantAt } from './rows.ts'
import { plain, texts, type Value } from './statement.ts'

/** The lists by which non-runs travel, and their types. */
export const NON_RUN = {
  ...{ from_ms: 'float8', to_ms: 'float8', after_ms: 'float8', count: 'float8' },
  ...{ state: 'text', reason: 'text', detail: 'text' },
}

export const nonRunValues = (nonRuns: readonly NonRun[]): Value[] => [
  plain(nonRuns.map(({ fromAt }) => fromAt)),
  plain(nonRuns.map(({ toAt }) => toAt)),
  plain(nonRuns.map(({ afterAt }) => afterAt)),
  plain(nonRuns.map(({ count }) => count)),
  texts(nonRuns.map(({ state }) => state)),
  texts(nonRuns.map(({ reason }) => reason)),
  texts(nonRuns.map(({ detail }) => detail)),
]

/** What `passedBy` needs of a row `x` of those lists, beside its schedule. */
export const NON_RUN_FIELDS = `${instantAt('x.from_ms')} as from_at, ${instantAt('x.to_ms')} as to_at,
  ${instantAt('x.after_ms')} as after_at, x.count, x.state, x.reason, x.detail`

/**
 * Parts of a statement that has a `clock`. `of` selects schedule_id and the columns above. A record that ends where one
 * begins, and says the same, grows; it is locked when it is found, so that it cannot move before it does. It ages from
 * then on: what it has just come to say must be kept as long as anything else that is said now.
 */
export const passedBy = (schema: string, of: string): string => `
passed as materialized (
  select x.*, (
    select b.ctid from ${schema}.non_runs b
    where b.schedule_id = x.schedule_id and b.to_at = x.after_at
      and b.state = x.state and b.reason = x.reason and b.detail = x.detail
    limit 1 for update
  ) as grows
  from (${of}) x
),
grown as (
  update ${schema}.non_runs b
  set to_at = p.to_at, count = b.count + p.count, recorded_at = (select now from clock)
  from passed p
  where b.ctid = any(array(select grows from passed)) and b.ctid = p.grows
),
added as (
  insert into ${schema}.non_runs (schedule_id, from_at, to_at, count, state, reason, detail, recorded_at)
  select p.schedule_id, p.from_at, p.to_at, p.count, p.state, p.reason, p.detail, clock.now
  from passed p cross join clock where p.grows is null
)`
