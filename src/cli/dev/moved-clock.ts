/** A clock that can move ahead. A file next to the database stores the offset, so that planned runs are not in the future after a restart. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Clock, systemClock } from '../../time/clock.ts'
import { OWNER_FILE } from '../owner-only.ts'

export const movedClock = (aheadMs: number): Clock => ({
  now: () => systemClock.now() + aheadMs,
  elapsed: () => systemClock.elapsed(),
})

const fileOf = (database: string): string => `${database}.clock`

/** 0 for a database whose clock never moved, and for a new database at the same path. */
export function aheadOf(database: string): number {
  if (database === ':memory:' || !existsSync(database) || !existsSync(fileOf(database))) return 0
  const ms = Number(readFileSync(fileOf(database), 'utf8'))
  return Number.isSafeInteger(ms) && ms > 0 ? ms : 0
}

export function putAhead(database: string, aheadMs: number): void {
  if (database !== ':memory:') writeFileSync(fileOf(database), `${aheadMs}\n`, { mode: OWNER_FILE })
}
