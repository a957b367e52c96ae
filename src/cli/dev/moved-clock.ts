/** A clock that can be put ahead, and the file beside the database that remembers by how much: what was planned there must not lie in the future of the next start. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Clock, systemClock } from '../../time/clock.ts'
import { OWNER_FILE } from '../owner-only.ts'

export const movedClock = (aheadMs: number): Clock => ({
  now: () => systemClock.now() + aheadMs,
  elapsed: () => systemClock.elapsed(),
})

const fileOf = (database: string): string => `${database}.clock`

/** 0 for a database that was never put ahead, and for a new one in its place. */
export function aheadOf(database: string): number {
  if (database === ':memory:' || !existsSync(database) || !existsSync(fileOf(database))) return 0
  const ms = Number(readFileSync(fileOf(database), 'utf8'))
  return Number.isSafeInteger(ms) && ms > 0 ? ms : 0
}

export function putAhead(database: string, aheadMs: number): void {
  if (database !== ':memory:') writeFileSync(fileOf(database), `${aheadMs}\n`, { mode: OWNER_FILE })
}
