/**
 * Decides when the table of live runs is cleared by us: under load it leaves more behind in a second than there is live, and the
 * server by itself looks once a minute. How it is cleared is the server's own doing.
 */
import type { Clock } from '../../time/clock.ts'
import type { Connection } from './connection.ts'
import { patient, unprepared } from './statement.ts'

/** So many rows left behind are worth it. */
const ENOUGH = 20_000
/** A burst is over by then, and has its cores for itself. */
const AFTER_MS = 1000
/** Clearing takes a twentieth of the time at most. */
const SHARE = 20
const LEAST_WAIT_MS = 1000
const MOST_WAIT_MS = 60_000

export interface Vacuum {
  /** Tells that so many rows were left behind; clears, beside everything else, once that is worth it. */
  left(rows: number): void
}

/** What the server knows of the table; its counts may be some seconds old. */
export interface Remains {
  readonly dead: number
  /** Since anybody cleared it; null when nobody ever did. */
  readonly agoMs: number | null
}

export interface VacuumOptions {
  readonly clock: Clock
  readonly enough?: number
  readonly afterMs?: number
}

export function createVacuum(
  connection: Connection,
  schema: string,
  { clock, enough = ENOUGH, afterMs = AFTER_MS }: VacuumOptions,
): Vacuum {
  const look = unprepared(`
select n_dead_tup::float8 as dead,
  date_part('epoch', clock_timestamp() - greatest(last_vacuum, last_autovacuum)) * 1000 as "agoMs"
from pg_catalog.pg_stat_all_tables where relid = '${schema}.runs'::regclass`)
  // What another is clearing is left to that one; and what is cleared stays the table's own, which it will need again.
  const clear = patient(`vacuum (skip_locked, truncate off) ${schema}.runs`)
  let rows = 0
  let waitMs = LEAST_WAIT_MS
  let triedAt = Number.NEGATIVE_INFINITY
  let underWay = false

  const remains = async (): Promise<Remains | undefined> => (await connection.api.ask<Remains>(look, []))[0]

  const pass = async (): Promise<void> => {
    rows = 0
    const before = await remains()
    const beganAt = clock.elapsed()
    // A try that the server passed over, for want of rights or because another was at it, is not in its books.
    if (!before || beganAt - triedAt < waitMs || !isDue(before, waitMs)) return
    triedAt = beganAt
    await connection.api.ask(clear, [])
    const after = await remains()
    waitMs = waitAfter({ before, after: after ?? before, tookMs: clock.elapsed() - beganAt, waitMs })
  }

  return {
    left(more) {
      rows += more
      if (rows < enough || underWay) return
      underWay = true
      setTimeout(() => {
        // It is a help and no background task: whoever may not, or cannot just now, leaves it to the server.
        pass()
          .catch(() => {})
          .finally(() => {
            underWay = false
          })
      }, afterMs).unref()
    },
  }
}

/** All processes read the same: what one has just cleared, the others need not. */
export const isDue = ({ agoMs }: Remains, waitMs: number): boolean => agoMs === null || agoMs >= waitMs

/** Somebody who holds an old snapshot keeps what is dead from being cleared: trying again at once would be in vain. */
export function waitAfter(done: {
  readonly before: Remains
  readonly after: Remains
  readonly tookMs: number
  readonly waitMs: number
}): number {
  const { before, after, tookMs, waitMs } = done
  const inVain = after.dead > before.dead / 2
  const wished = inVain ? Math.max(waitMs * 4, tookMs * SHARE) : tookMs * SHARE
  return Math.min(MOST_WAIT_MS, Math.max(LEAST_WAIT_MS, wished))
}
