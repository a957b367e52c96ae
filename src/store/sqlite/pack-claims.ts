/** What a claim does with packs: those that it takes whole are granted as they are, and what else it could come to is unpacked for it. */
import { isLimited } from '../../run/queue-limits.ts'
import type { Run } from '../../run/run.ts'
import type { Wanted } from '../contract/claims.ts'
import { ID, PAYLOAD, type Packed, UNPACKED, unpack, unpackSome } from './packs.ts'
import type { QueueSettings } from './queue-settings.ts'
import { LIVE_RUN, parsed, type RunRow, runOf } from './run-rows.ts'
import { ask, type Steps } from './steps.ts'
import { SHARES } from './turns.ts'

export const PACKED_QUEUES = `
  select value as queue from json_each(?) where exists (select 1 from everytick_packs p where p.queue = value)`
/** By the index that has the order; of a queue, or of a queue and workspace. */
const firstOf = (index: string, whose: string): string => `
  select id, count, priority, due_at from everytick_packs indexed by ${index}
  where ${whose} and due_at <= ? order by priority desc, due_at, id limit 1`
const aheadOf = (whose: string): string => `
  select count(*) as many from (
    select 1 from everytick_runs
    where state = 'pending' and gate = 'open' and ${whose} and priority = ? and due_at <= ? limit ?)`
export const FIRST = firstOf('everytick_packs_urgency', 'queue = ?')
export const FIRST_OF = firstOf('everytick_packs_turn', 'queue = ? and workspace = ?')
export const AHEAD = aheadOf('queue = ?')
export const AHEAD_OF = aheadOf('queue = ? and workspace = ?')
export const HIGHER = `
  select count(*) as many from (
    select 1 from everytick_runs
    where state = 'pending' and gate = 'open' and queue = ? and priority in (select value from json_each(?)) and due_at <= ?
    limit ?)`
export const DUE_IN = `
  select count(*) as many from (
    select 1 from everytick_runs
    where state = 'pending' and gate = 'open' and queue = ? and workspace = ?
      and priority in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9) and due_at <= ?
    limit ?)`
/** From one workspace to the next by the index. */
export const WORKSPACES_AFTER = `
  with recursive turn(workspace, n) as (
    select (select workspace from everytick_packs where queue = ? and workspace > ? order by workspace limit 1), 1
    union all
    select (select p.workspace from everytick_packs p
      where p.queue = ? and p.workspace > turn.workspace order by p.workspace limit 1), n + 1
    from turn where turn.workspace is not null and n < ${SHARES})
  select workspace from turn where workspace is not null`

/** Whether a workspace is the only one of which rows wait in a queue. */
const others = (how: string): string => `exists (
  select 1 from everytick_runs where state = 'pending' and gate = 'open' and queue = ? and workspace ${how} ?)`
export const ALONE = `select not ${others('<')} and not ${others('>')} as alone`
const CONTENT = `select payload, runs from everytick_packs where id = ?`
const GRANT = `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, policy, payload,
    attempt, fence, worker_id, lease_until, started_at)
  select ${ID}, p.workspace, p.job, p.queue, 'running', p.trigger, p.priority, p.due_at, p.created_at, p.policy, ${PAYLOAD},
    1, 1, ?, ?, ?
  from everytick_packs p cross join json_each(p.runs) j where p.id = ?`
const GRANTED_ONE = `select ${LIVE_RUN} from everytick_runs where id = ?`

export interface Lease {
  readonly workerId: string
  readonly until: number
  readonly now: number
}

interface First extends Packed {
  readonly priority: number
  readonly due_at: number
}

/** Afterwards the rows have all that the claim would find if there were no packs, less the runs that this answers: they are granted. */
export function* claimPacked(one: Wanted, its: QueueSettings | undefined, lease: Lease): Steps<Run[]> {
  const { queue, limit } = one
  if (its?.paused) return []
  const inTurn = one.fair || its?.limits.perWorkspace !== undefined ? yield* workspacesOf(one) : []
  const isShared = inTurn.length > 1 || (inTurn.length === 1 && !(yield* isAlone(queue, inTurn[0]!)))
  const areWhole = !isShared && (its === undefined || !isLimited(its.limits))
  const { now } = lease
  const granted = yield* takeFirst([queue], { limit, now, lease: areWhole ? lease : null })
  if (isShared) yield* unpackShares(queue, inTurn, { limit, now })
  // Limits by workspace came after these packs were made, or there would be none.
  if (its?.limits.perWorkspace !== undefined) yield* unpackSome(queue)
  return granted
}

/** Those with packs that could have their turn. */
function* workspacesOf({ queue, turn }: Wanted): Steps<string[]> {
  const next = yield* ask<{ workspace: string }>(WORKSPACES_AFTER, queue, turn ?? '', queue)
  const first = next.length < SHARES ? yield* ask<{ workspace: string }>(WORKSPACES_AFTER, queue, '', queue) : []
  return [...new Set([...next, ...first].map(({ workspace }) => workspace))].slice(0, SHARES)
}

/** So much of each that all together have what is wanted, and none has more rows made than its share: what some lack, others have more. */
function* unpackShares(queue: string, workspaces: readonly string[], { limit, now }: Omit<Take, 'lease'>): Steps<void> {
  let share = Math.ceil(limit / workspaces.length)
  let [line, missing] = [workspaces, limit]
  while (missing > 0 && line.length > 0) {
    const full: string[] = []
    let have = 0
    for (const workspace of line) {
      yield* takeFirst([queue, workspace], { limit: share, now, lease: null })
      const [due] = yield* ask<{ many: number }>(DUE_IN, queue, workspace, now, share)
      if (due!.many === share) full.push(workspace)
      have += due!.many
    }
    missing -= have
    if (missing > 0 && full.length > 0) {
      missing += full.length * share
      share = Math.ceil(missing / full.length)
    }
    line = full
  }
}

function* isAlone(queue: string, workspace: string): Steps<boolean> {
  const [found] = yield* ask<{ alone: number }>(ALONE, queue, workspace, queue, workspace)
  return found!.alone === 1
}

interface Take {
  readonly limit: number
  readonly now: number
  /** With one, a pack is granted when all of it is wanted, beside what comes before it. */
  readonly lease: Lease | null
}

type Whose = readonly [queue: string] | readonly [queue: string, workspace: string]

/** Until as many rows as are wanted come before the first pack: then they come before all of them. */
function* takeFirst(whose: Whose, { limit, now, lease }: Take): Steps<Run[]> {
  const [first, ahead] = whose.length === 1 ? [FIRST, AHEAD] : [FIRST_OF, AHEAD_OF]
  const granted: Run[] = []
  for (let left = limit; ; ) {
    const [pack] = yield* ask<First>(first, ...whose, now)
    if (pack === undefined) return granted
    const [before] = yield* ask<{ many: number }>(ahead, ...whose, pack.priority, pack.due_at, left)
    const above = lease === null ? 0 : yield* countAbove(pack, { queue: whose[0], limit: left, now })
    const free = left - before!.many - above
    if (free <= 0) return granted
    if (lease !== null && pack.count <= free) {
      granted.push(...(yield* grantPack(pack, lease)))
      left -= pack.count
    } else yield* unpack([pack])
  }
}

/** Due rows of higher priorities. */
function* countAbove(
  { priority }: First,
  { queue, limit, now }: { queue: string; limit: number; now: number },
): Steps<number> {
  const higher = [9, 8, 7, 6, 5, 4, 3, 2, 1].filter((level) => level > priority)
  const [above] = yield* ask<{ many: number }>(HIGHER, queue, JSON.stringify(higher), now, limit)
  return above!.many
}

/** One of them is read, and the others are like it but for id and payload: reading each would cost as much as inserting it. */
function* grantPack({ id, count }: Packed, { workerId, until, now }: Lease): Steps<Run[]> {
  const [content] = yield* ask<{ payload: string | null; runs: string }>(CONTENT, id)
  yield { text: GRANT, values: [workerId, until, now, id], rows: count }
  yield { text: UNPACKED, values: [id] }
  const runs = JSON.parse(content!.runs) as string[] | Record<string, string>
  const payloadOf = Array.isArray(runs) ? () => content!.payload! : (run: string) => runs[run]!
  const ids = idsIn(runs)
  const [row] = yield* ask<RunRow>(GRANTED_ONE, ids[0]!)
  const one = runOf(row!)
  return ids.map((run) => ({ ...one, id: run, payload: parsed(payloadOf(run)) }))
}

const idsIn = (runs: readonly string[] | object): readonly string[] => (Array.isArray(runs) ? runs : Object.keys(runs))
