/** Moves runs through their concurrency groups: finds groups that need a decision, `plan/overlap.ts` decides, the store writes; many processes may do so at once. */
import { decideGroup, type GroupMove } from '../plan/overlap.ts'
import type { GroupStore } from '../store/contract/groups.ts'
import type { Clock } from '../time/clock.ts'
import { POLL_MS, type PollMs } from './poll.ts'

/** The most concurrency groups that one scan decides; the next round continues. */
const BATCH = 200
/** The most freed concurrency groups that one scan checks; nearly all of them are empty. */
const FREED = 2000
const MAX_ROUNDS = 20

export interface GroupsOptions {
  readonly groups: GroupStore
  readonly clock: Clock
  /** The interval between scans of all groups while all of them are empty. */
  readonly pollMs: PollMs
  /** Called with the moves that were written. */
  readonly onMoved: (moves: readonly GroupMove[]) => void
  /** Requests another pass soon. */
  readonly wake: () => void
}

export interface Groups {
  /** Scans the freed groups, or all when a full scan is due; returns the delay until the next full scan in milliseconds. */
  pass(): Promise<number>
  /** Scans all groups now. */
  sweep(): Promise<void>
  /** The active run of this group has ended here, so the next run need not wait for the poll. */
  freed(group: string): void
  /** A hint about new runs arrived; some may be in concurrency groups. */
  heard(): void
}

export function createGroups({ groups, clock, pollMs, onMoved, wake }: GroupsOptions): Groups {
  const free = new Set<string>()
  let sweptAt = Number.NEGATIVE_INFINITY
  /** Whether nobody was in any group when all of them were last looked at, and no new run was told of since. */
  let quiet = false
  const sweepAt = (): number => sweptAt + (quiet ? pollMs() : POLL_MS)

  /** What the last look at all groups said. */
  let empty = false

  /** Answers the moves it asked for, '' when another look would find nothing. */
  const round = async (before: string, of?: readonly string[]): Promise<string> => {
    const looked = await groups.look({ limit: BATCH, ...(of ? { of } : {}) })
    if (looked.empty !== undefined) empty = looked.empty
    const moves = looked.groups.map((group) => decideGroup(group, looked.now)).filter(({ length }) => length > 0)
    const words = moves.length === 0 ? '' : JSON.stringify(moves)
    // The same again: somebody holds these groups, and the next poll is soon enough.
    if (words === '' || words === before) return ''
    await groups.apply(moves)
    onMoved(moves.flat())
    return words
  }

  const rounds = async (of?: readonly string[]): Promise<void> => {
    let before = ''
    for (let left = MAX_ROUNDS; left > 0; left--) {
      before = await round(before, of)
      if (before === '') return
    }
  }

  const sweep = async (): Promise<void> => {
    const at = clock.elapsed()
    free.clear()
    quiet = true
    empty = false
    await rounds().catch((error: unknown) => {
      quiet = false
      throw error
    })
    if (!empty) quiet = false
    // Only now: after a failure the next pass looks at all of them, and so at those that were freed.
    sweptAt = at
  }

  const serveFreed = async (): Promise<void> => {
    const of = [...free].slice(0, FREED)
    for (const group of of) free.delete(group)
    try {
      if (of.length > 0) await rounds(of)
    } catch (error) {
      for (const group of of) free.add(group)
      throw error
    }
  }

  return {
    sweep,
    async pass() {
      if (clock.elapsed() >= sweepAt()) await sweep()
      else await serveFreed()
      return free.size > 0 ? 0 : Math.max(1, sweepAt() - clock.elapsed())
    },
    freed(group) {
      free.add(group)
      wake()
    },
    heard() {
      if (!quiet) return
      quiet = false
      wake()
    },
  }
}
