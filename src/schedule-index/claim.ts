/** One claim as it goes: which of the rows read are claimed, which are set aside, where each goes, and when enough was read. */
import { printable } from '../printable.ts'
import { advanced } from './advance.ts'
import {
  type BadRow,
  NEVER_AT,
  readAt,
  readLimit,
  type ScheduleIndexOptions,
  type ScheduleIndexRow,
} from './contract.ts'

/** The new `nextFireAt` of a row that was read. */
export interface Move {
  readonly userId: string
  readonly key: string
  readonly nextFireAt: number
}

export interface Claim {
  readonly now: number
  /** How many due rows to read and lock next; 0 ends the claim. Never more than may still be claimed: rivals want the rest. */
  readonly wanted: number
  /** Judges the rows that were read; every one of them moves, so that none is read again. */
  take(rows: readonly ScheduleIndexRow[]): Move[]
  /** After the commit: reports the bad rows and returns the claimed ones. */
  finish(options: ScheduleIndexOptions): ScheduleIndexRow[]
}

/** Rows judged at a time, and bad ones after which a claim leaves the rest to the next: its transaction stays short. */
const PAGE = 250
const MAX_BAD = 250

export function startClaim(now: number, limit: number): Claim {
  const claimed: ScheduleIndexRow[] = []
  const bad: BadRow[] = []
  let wanted = Math.min(readLimit(limit), PAGE)

  /** A bad row goes where no claim looks: it costs one look, however often the others are claimed. */
  const judge = (row: ScheduleIndexRow): number => {
    try {
      const next = advanced(row, now)
      claimed.push(row)
      return next
    } catch (error) {
      bad.push({ row, error: error instanceof Error ? error : new Error(String(error)) })
      return NEVER_AT
    }
  }
  return {
    now: readAt(now, 'now'),
    get wanted() {
      return wanted
    },
    take(rows) {
      const moves = rows.map((row) => ({ userId: row.userId, key: row.key, nextFireAt: judge(row) }))
      const isLast = rows.length < wanted || bad.length >= MAX_BAD
      wanted = isLast ? 0 : Math.min(limit - claimed.length, PAGE)
      return moves
    },
    finish({ onBadRow = logBadRow }) {
      // The rows are claimed: a listener that fails must not keep them from the caller.
      for (const one of bad) new Promise((done) => done(onBadRow(one))).catch(() => {})
      return claimed
    },
  }
}

function logBadRow({ row, error }: BadRow): void {
  console.warn(printable(`schedule_index: "${row.key}" of user "${row.userId}" never fires: ${error.message}`))
}
