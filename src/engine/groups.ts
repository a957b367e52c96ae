/** Moves runs through their groups: looks which groups need a decision, lets `plan/overlap.ts` decide, writes; any number of processes may do so at once. */
import { decideGroup, type GroupMove } from '../plan/overlap.ts'
import type { GroupStore } from '../store/contract/groups.ts'
import type { Clock } from '../time/clock.ts'
import { POLL_MS, type PollMs } from './poll.ts'

/** Concurrency groups that one look decides about; what is left is for the next round. */
const BATCH = 200
/** Concurrency groups that one look asks after: in nearly all of them nobody stands. */
const FREED = 2000
const MAX_ROUNDS = 20

export interface GroupsOptions {
  readonly groups: GroupStore
  readonly clock: Clock
  /** How often all groups are looked at while there is nobody in any of them. */
  readonly pollMs: PollMs
  /** Called with the moves that were asked for. */
  readonly onMoved: (moves: readonly GroupMove[]) => void
  /** Asks for another pass soon. */
  readonly wake: () => void
}

export interface Groups {
  /** Looks at the groups that were freed, or at all when it is time; answers in how many milliseconds that is again. */
  pass(): Promise<number>
  /** Looks at all groups now. */
  sweep(): Promise<void>
  /** The open run of this group has ended here: whoever is next need not wait for the poll. */
  freed(group: string): void
  /** New runs were told of, and some may stand in groups. */
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
