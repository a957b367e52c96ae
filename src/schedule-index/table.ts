/** The table of the index in both databases: how it is made, how its rows read, what its absence is called; making it is the user's own migration. */
import { EverytickError } from '../errors.ts'
import type { ScheduleIndexRow } from './contract.ts'

export type Dialect = 'postgres' | 'sqlite'

const INDEX = `create index if not exists idx_schedule_index_next_fire_at
  on schedule_index (next_fire_at);
`

const DDL: Readonly<Record<Dialect, string>> = {
  postgres: `create table if not exists schedule_index (
  user_id text not null,
  key text not null,
  cron text not null,
  timezone text,
  next_fire_at bigint not null,
  primary key (user_id, key)
);
${INDEX}`,
  sqlite: `create table if not exists schedule_index (
  user_id text not null,
  key text not null,
  cron text not null,
  timezone text,
  next_fire_at integer not null,
  primary key (user_id, key)
) without rowid;
${INDEX}`,
}

/** The statements that make the table; running them again changes nothing. */
export function scheduleIndexDdl(dialect: Dialect): string {
  if (Object.hasOwn(DDL, dialect)) return DDL[dialect]
  throw new EverytickError('OPTION_INVALID', `there is no schedule index for ${dialect}`, {
    hint: 'use postgres or sqlite',
  })
}

/** The failure as callers see it: a missing table in words that say what to do, everything else as the driver said it. */
export function failureOf(error: unknown, dialect: Dialect): unknown {
  if (!(error instanceof Error)) return error
  const isMissing =
    dialect === 'postgres'
      ? 'code' in error && error.code === '42P01'
      : /no such table: (?:main\.)?schedule_index\b/.test(error.message)
  if (!isMissing) return error
  return new EverytickError('SCHEMA_OUTDATED', 'the table schedule_index is not there', {
    hint: `run the statements of scheduleIndexDdl('${dialect}') once`,
    cause: error,
  })
}

/** A row as the drivers give it; they differ about what a 64-bit number is. */
export interface StoredRow {
  readonly user_id: string
  readonly key: string
  readonly cron: string
  readonly timezone: string | null
  readonly next_fire_at: string | number | bigint
}

export const rowOf = ({ user_id, key, cron, timezone, next_fire_at }: StoredRow): ScheduleIndexRow => ({
  userId: user_id,
  key,
  cron,
  ...(timezone === null ? {} : { timezone }),
  nextFireAt: Number(next_fire_at),
})
