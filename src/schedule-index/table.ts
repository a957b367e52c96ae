/** The table of the index in both databases: its statements, how its rows read, and what happens when it is missing. */
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

/** How the table is created when a call misses it; absent when the caller creates it in a migration. */
export type CreateTable = ((ddl: string) => Promise<unknown> | unknown) | null

/**
 * Does the work, and once more after creating the table when the work failed because there is none. A call that finds its
 * table pays nothing for this.
 */
export async function withTable<Answer>(
  dialect: Dialect,
  create: CreateTable,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (!isTableMissing(error, dialect)) throw error
    if (create === null) throw tableMissing(error, dialect)
  }
  await createTable(create, dialect)
  return work()
}

/** How often a process tries again to create the table while other processes create it too. */
const MAX_CREATIONS = 5

/** Of two processes that create the table at the same time, Postgres refuses the slower one, which then finds what the other created. */
async function createTable(create: NonNullable<CreateTable>, dialect: Dialect): Promise<void> {
  for (let creations = 1; ; creations++) {
    try {
      await create(scheduleIndexDdl(dialect))
      return
    } catch (error) {
      if (!isCreatedByOther(error) || creations === MAX_CREATIONS) throw tableMissing(error, dialect)
    }
  }
}

function isTableMissing(error: unknown, dialect: Dialect): error is Error {
  if (!(error instanceof Error)) return false
  if (dialect === 'postgres') return 'code' in error && error.code === '42P01'
  return /no such table: (?:main\.)?schedule_index\b/.test(error.message)
}

/** A unique violation in the catalog, or a table, index or row type that is there already. */
const CREATED_BY_OTHER: readonly unknown[] = ['23505', '42P07', '42710']

const isCreatedByOther = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && CREATED_BY_OTHER.includes(error.code)

function tableMissing(cause: unknown, dialect: Dialect): EverytickError {
  return new EverytickError('SCHEMA_OUTDATED', 'there is no table schedule_index', {
    hint: `run the statements of scheduleIndexDdl('${dialect}') once`,
    cause,
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
