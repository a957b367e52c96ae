/** Which due runs one claim takes from which queues, inside the caller's transaction, and when there will be more to take. */
import { randomUUID } from 'node:crypto'
import { allowance, spend } from '../../run/queue-limits.ts'
import type { Run } from '../../run/run.ts'
import type { Clock } from '../../time/clock.ts'
import type { Claimed, ClaimRequest, Wanted } from '../contract/claims.ts'
import { startClaim } from './begun.ts'
import { claimFair } from './claim-fair.ts'
import type { Connection } from './connection.ts'
import { capacityIn, type QueueSettings, saveLog, settingsOf } from './queue-settings.ts'
import { LIVE, runsOf } from './run-rows.ts'

const PRIORITIES = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

// One priority at a time: only then does the index lead to the due ones and past those still to come.
const dueOf = (whose: string): string => `
  select json_group_array("row") as "rows" from (
    select rowid as "row" from everytick_runs
    where state = 'pending' and readiness = 'ready' and queue = ? ${whose}and priority = ? and due_at <= ?
    order by due_at, rowid limit ?)`
export const DUE_RUNS = dueOf('')
export const DUE_RUNS_OF = dueOf('and workspace = ? ')
// Once for all that were chosen, since a write costs far more than the reads that lead to it.
export const CLAIM = `
  update everytick_runs
  set state = 'running', attempt = attempt + 1, fence = fence + 1, claim_id = ?, worker_id = ?, lease_until = ?, started_at = ?
  where rowid in (select value from json_each(?))`
// Read after the write and all in one text: what a write returns is set aside row by row before anybody sees it.
export const CLAIMED = `
  select json_group_array(${LIVE}) as runs from everytick_runs where rowid in (select value from json_each(?))`
/** The first pending run of a queue after an instant: one probe of the index for each priority. */
export const NEXT_DUE = `
  select min((
    select due_at from everytick_runs
    where state = 'pending' and readiness = 'ready' and queue = ? and priority = level.column1 and due_at > ?
    order by due_at limit 1)) as due_at
  from (values ${PRIORITIES.map((priority) => `(${priority})`).join(', ')}) level`

/** Before every instant. */
const EVER = Number.MIN_SAFE_INTEGER

export function nextDue(connection: Connection, queue: string, after: number = EVER): number | null {
  return connection.all<{ due_at: number | null }>(NEXT_DUE, queue, after)[0]?.due_at ?? null
}

const earliest = (instants: readonly (number | null)[]): number | null => {
  const known = instants.filter((at) => at !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/** Whether a claim would find something to take, by reading alone; and when to come again if not. */
export function peek(
  connection: Connection,
  { wanted }: ClaimRequest,
  clock: Clock,
): { now: number; isDue: boolean; nextDueAt: number | null } {
  const settings = settingsOf(connection, namesOf(wanted))
  const now = clock.now()
  const comes: (number | null)[] = []
  for (const { queue, limit } of wanted) {
    const its = settings.get(queue)
    if (its?.paused) continue
    const soonest = nextDue(connection, queue)
    if (soonest === null) continue
    const room = capacityIn(connection, its, { queue, wanted: limit, now })
    if (soonest <= now && (room?.limit ?? limit) > 0) return { now, isDue: true, nextDueAt: null }
    comes.push(soonest > now ? soonest : (room?.againAt ?? null))
  }
  return { now, isDue: false, nextDueAt: earliest(comes) }
}

interface Lease {
  readonly claimId: string
  readonly workerId: string
  readonly until: number
  readonly now: number
}

export function claim(connection: Connection, { workerId, leaseMs, wanted }: ClaimRequest, clock: Clock): Claimed {
  const now = clock.now()
  const settings = settingsOf(connection, namesOf(wanted))
  const runs: Run[] = []
  const comes: (number | null)[] = []
  const lastWorkspaces: Record<string, string> = {}
  for (const one of [...wanted].sort(byName)) {
    const { queue, lastWorkspace } = one
    const its = settings.get(queue)
    if (its?.paused) continue
    const room = capacityIn(connection, its, { queue, wanted: one.limit, now })
    const limit = room?.limit ?? one.limit
    const perWorkspace = its?.limits.perWorkspace ?? Number.POSITIVE_INFINITY
    const { rows, take } = choice(connection, queue, now)
    if (one.fair || perWorkspace < Number.POSITIVE_INFINITY) {
      const shared = {
        queue,
        limit,
        lastWorkspace,
        perWorkspace,
        running: room?.running ?? new Map<string, number>(),
        now,
      }
      const { last, left } = claimFair(connection, shared, (workspace, share) => take(share, workspace))
      if (last !== undefined) lastWorkspaces[queue] = last
      // What all those looked at did not need goes to whoever waits longest, so that it does not lie idle.
      if (perWorkspace === Number.POSITIVE_INFINITY) take(left)
    } else take(limit)
    if (rows.size > 0) {
      const lease = { claimId: randomUUID(), workerId, until: now + leaseMs, now }
      const claimed = grant(connection, [...rows], lease)
      startClaim(connection, claimed, { ...lease, startable: one.startable ?? one.limit })
      runs.push(...claimed.sort(byUrgency))
    }
    if (its === undefined || room === null) comes.push(nextDue(connection, queue, now))
    else {
      const running = [...room.running.values()].reduce((sum, count) => sum + count, rows.size)
      comes.push(afterClaim(connection, its, { queue, granted: rows.size, running, now }))
    }
  }
  return { now, runs, nextDueAt: earliest(comes), lastWorkspaces }
}

/** Makes the chosen ones the worker's. */
function grant(connection: Connection, rows: number[], { claimId, workerId, until, now }: Lease): Run[] {
  // In the order they were inserted in, which is what counts among those that are as late.
  const chosen = JSON.stringify(rows.sort((a, b) => a - b))
  connection.run(CLAIM, claimId, workerId, until, now, chosen)
  const [granted] = connection.all<{ runs: string }>(CLAIMED, chosen)
  return runsOf(granted?.runs ?? '[]')
}

/** Chooses due runs of a queue, each once, the most urgent first; of all workspaces or of one. */
function choice(connection: Connection, queue: string, now: number) {
  const rows = new Set<number>()
  const take = (limit: number, workspace?: string): number => {
    const whose = workspace === undefined ? [queue] : [queue, workspace]
    const text = workspace === undefined ? DUE_RUNS : DUE_RUNS_OF
    let left = limit
    for (const priority of PRIORITIES) {
      if (left <= 0) break
      // Those that were chosen before are found again.
      const [found] = connection.all<{ rows: string }>(text, ...whose, priority, now, left + rows.size)
      for (const row of JSON.parse(found?.rows ?? '[]') as number[]) {
        if (left <= 0) break
        if (!rows.has(row)) left--
        rows.add(row)
      }
    }
    return limit - left
  }
  return { rows, take }
}

const byUrgency = (a: Run, b: Run): number => b.priority - a.priority || a.dueAt - b.dueAt

const byName = (a: Wanted, b: Wanted): number => (a.queue < b.queue ? -1 : 1)

const namesOf = (wanted: readonly Wanted[]): string[] => wanted.map(({ queue }) => queue)

interface ClaimedRows {
  readonly queue: string
  readonly granted: number
  readonly running: number
  readonly now: number
}

/**
 * Writes down what was claimed, and answers when there is more to take. Where the limits allow nothing now, what is due does
 * not count: a worker would come for it again and again. An ended run brings its worker back anyhow.
 */
function afterClaim(
  connection: Connection,
  its: QueueSettings,
  { queue, granted, running, now }: ClaimedRows,
): number | null {
  const log = spend(its.log, its.limits, { granted, now })
  if (granted > 0 && its.limits.rateLimit) saveLog(connection, queue, log)
  const { limit, againAt } = allowance(its.limits, { wanted: 1, running, log, now })
  if (limit > 0) return nextDue(connection, queue, now)
  const soonest = againAt === null ? null : nextDue(connection, queue)
  return soonest === null || againAt === null ? null : Math.max(soonest, againAt)
}
