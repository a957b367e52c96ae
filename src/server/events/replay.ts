/** Reads the events that reconnecting clients have missed. When many reconnect at once, one read serves all that left at about the same time. */
import type { FeedStore } from '../../store/contract/feed.ts'
import { eventOf, type LiveEvent } from './event.ts'

/** The most events to replay; a larger gap becomes a resync. */
export const MAX_REPLAYED = 10_000
/** Clients that left within this time of each other share a read. */
const SAME_MS = 10_000

export interface Gap {
  readonly afterAt: number
  /** Null: all workspaces. */
  readonly workspace: string | null
}

export interface Missed {
  /** Oldest first; null if there are too many. */
  readonly events: readonly LiveEvent[] | null
  readonly untilAt: number
}

export interface Reading {
  now(): Promise<number>
  readonly feed: FeedStore
}

interface Waiting extends Gap {
  /** Reads on its own, because the shared read had too many events. */
  readonly alone: boolean
  readonly resolve: (missed: Missed) => void
  readonly reject: (error: unknown) => void
}

/** A read starts after the request for it, so that no event is lost between replay and live events. */
export function createReplay(open: () => Promise<Reading>): (gap: Gap) => Promise<Missed> {
  let waiting: Waiting[] = []
  let working = false

  const next = (): Waiting[] => {
    const [first] = waiting
    const oldestAt = Math.min(...waiting.filter((each) => isUniform(each, first!)).map(({ afterAt }) => afterAt))
    const isNow = (each: Waiting): boolean =>
      each === first || (!first!.alone && isUniform(each, first!) && each.afterAt - oldestAt <= SAME_MS)
    const group = waiting.filter(isNow)
    waiting = waiting.filter((each) => !isNow(each))
    return group
  }
  const serve = async (group: readonly Waiting[]): Promise<void> => {
    const { feed, now } = await open()
    const untilAt = await now()
    const afterAt = Math.min(...group.map((each) => each.afterAt))
    const { workspace } = group[0]!
    const page = { limit: MAX_REPLAYED + 1, ...(workspace === null ? {} : { workspace }) }
    const entries = await feed.between({ afterAt, untilAt }, page)
    if (entries.length <= MAX_REPLAYED) {
      const events = entries.map(eventOf)
      for (const each of group) each.resolve({ events: events.filter(({ at }) => at > each.afterAt), untilAt })
    } else if (group.length === 1) group[0]!.resolve({ events: null, untilAt })
    else waiting.push(...group.map((each) => ({ ...each, alone: true })))
  }
  const work = async (): Promise<void> => {
    working = true
    while (waiting.length > 0) {
      const group = next()
      await serve(group).catch((error: unknown) => {
        for (const each of group) each.reject(error)
      })
    }
    working = false
  }

  return (gap) =>
    new Promise((resolve, reject) => {
      waiting.push({ ...gap, alone: false, resolve, reject })
      if (!working) void work()
    })
}

const isUniform = (a: Waiting, b: Waiting): boolean => a.workspace === b.workspace && a.alone === b.alone
