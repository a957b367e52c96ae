/** Polls the feed of the store while there are clients, and sends the events to all of them. */
import { createLoop, type Loop } from '../../engine/loop.ts'
import type { FeedEntry } from '../../store/contract/feed.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Parts } from '../parts.ts'
import { eventOf, idOf, instantOf, type LiveEvent, textOf } from './event.ts'
import type { Follower } from './follower.ts'
import { createReplay, MAX_REPLAYED } from './replay.ts'

export interface Tail {
  /** Starts with live events, or after the last event that the client received. */
  join(follower: Follower, lastEventId: string | null): Promise<void>
  leave(follower: Follower): void
  stop(): Promise<void>
}

const POLL_MS = 300
const PRESENCE_MS = 15_000
/** A transaction may commit an entry with an instant this old, so the last seconds are read again. */
const LATE_MS = 2000
/** From time to time a longer period is read again, because a transaction may have stalled. */
const VERY_LATE_MS = 30_000
const VERY_LATE_EVERY_MS = 5000
/** With more events than this, reading again is too expensive. */
const MAX_SEEN = 20_000
/** Reconnecting clients receive this much of the past again. */
const AGAIN_MS = 5000
const PAGE = 5000
const MAX_STARTS = 5000

export function createTail({ core, ending }: Pick<Parts, 'core' | 'ending'>): Tail {
  const followers = new Set<Follower>()
  const replay = createReplay(() => core.store())
  /** Ids of entries that were sent, or existed before the first client, with their instants. */
  const seen = new Map<string, number>()
  /** The instant up to which everything was sent; null without clients. */
  let position: number | null = null
  /** Entries before this instant are ignored. */
  let fromAt = 0
  /** Aborted when the last client leaves; a poll that is in flight then is discarded. */
  let period = 0
  let veryLateAt = 0
  let heartbeatAt = 0
  let starts: LiveEvent[] = []
  let begun: (() => void)[] = []
  let unhear = (): void => {}

  const notifyAll = (events: readonly LiveEvent[]): void => {
    if (events.length > 0) for (const follower of [...followers]) follower.offer(events)
  }
  const isNews = (entry: FeedEntry): boolean => {
    const id = idOf(entry)
    if (seen.has(id)) return false
    seen.set(id, entry.at)
    return true
  }
  const afterAtOf = (before: number): number => {
    const isVeryLate = core.clock.elapsed() >= veryLateAt && seen.size <= MAX_SEEN
    if (isVeryLate) veryLateAt = core.clock.elapsed() + VERY_LATE_EVERY_MS
    return Math.max(fromAt, before - (isVeryLate ? VERY_LATE_MS : LATE_MS))
  }
  const forgetOld = (now: number): void => {
    const retentionMs = seen.size > MAX_SEEN ? 2 * LATE_MS : VERY_LATE_MS + 2 * LATE_MS
    if (retentionMs < VERY_LATE_MS) fromAt = Math.max(fromAt, now - LATE_MS)
    for (const [id, at] of seen) if (at < now - retentionMs) seen.delete(id)
  }

  const look = async (store: Store): Promise<void> => {
    const own = period
    const now = await store.now()
    if (own !== period) return
    const isFirst = position === null
    if (isFirst) fromAt = now - LATE_MS
    let afterAt = afterAtOf(position ?? now)
    const news: FeedEntry[] = []
    for (;;) {
      const page = await store.feed.between({ afterAt, untilAt: now }, { limit: PAGE })
      if (own !== period) return
      news.push(...page.filter(isNews))
      const last = page.at(-1)
      if (page.length < PAGE || !last) {
        // Existing entries are only remembered; reconnecting clients read what they missed themselves.
        if (!isFirst) notifyAll(news.map(eventOf))
        break
      }
      // Entries of the same instant may be on both pages; their ids deduplicate them.
      if (news.length > MAX_REPLAYED || last.at - 1 <= afterAt) {
        fromAt = now
        for (const follower of [...followers]) follower.resync(now)
        break
      }
      afterAt = last.at - 1
    }
    position = now
    forgetOld(now)
    for (const resolve of begun.splice(0)) resolve()
  }

  /** Polls while there are clients. */
  const whileFollowed = (pass: () => Promise<number>): Loop =>
    createLoop({
      timers: core.timers,
      async pass() {
        if (followers.size === 0 || ending.aborted) return Number.POSITIVE_INFINITY
        return pass()
      },
      onRecovery: () => core.hub.tell({ kind: 'engine.recovered', where: 'events' }),
      onError(error, retryInMs) {
        if (!ending.aborted) core.hub.tell({ kind: 'engine.error', where: 'events', error, retryInMs })
      },
    })
  const looking = whileFollowed(async () => {
    notifyAll(starts.splice(0))
    await look(await core.store())
    return POLL_MS
  })
  const loops = [
    looking,
    // A separate loop, because keep-alives must continue while the database is down.
    whileFollowed(async () => {
      const backoffMs = heartbeatAt - core.clock.elapsed()
      if (backoffMs > 0) return backoffMs
      heartbeatAt = core.clock.elapsed() + PRESENCE_MS
      for (const follower of [...followers]) follower.reportPresence(position)
      return PRESENCE_MS
    }),
  ]

  /** Starts of runs in this process are sent only to clients of this process, and not replayed, because no row records them. */
  const hearStarts = (): void => {
    unhear = core.hub.on('run.started', ({ run, at }) => {
      if (starts.length >= MAX_STARTS) return
      const { id, workspace, job, queue, schedule, attempt } = run
      const data = { run: id, workspace, job, queue, schedule, attempt, at }
      const text = textOf({ id: null, type: 'run.started', data })
      starts.push({
        ...{ id: null, at: at.getTime(), type: 'run.started', workspace, scheduleId: schedule?.id ?? null, text },
      })
    })
  }

  return {
    async join(follower, lastEventId) {
      if (ending.aborted) return follower.close()
      if (followers.size === 0) {
        hearStarts()
        heartbeatAt = core.clock.elapsed() + PRESENCE_MS
      }
      followers.add(follower)
      // Everything committed from here on is found by a poll, or by the read below.
      const first = position === null ? new Promise<void>((resolve) => begun.push(resolve)) : null
      for (const loop of loops) {
        loop.start()
        if (first) loop.wake()
      }
      await first
      const { workspace } = follower.principal
      const heardAt = lastEventId === null ? null : instantOf(lastEventId)
      if (heardAt !== null) {
        const { events, untilAt } = await replay({ afterAt: heardAt - AGAIN_MS, workspace })
        return follower.begin(events?.filter(({ id }) => id !== lastEventId) ?? null, untilAt)
      }
      const now = await (await core.store()).now()
      follower.begin(lastEventId === null ? [] : null, now)
    },
    leave(follower) {
      if (!followers.delete(follower) || followers.size > 0) return
      unhear()
      period++
      position = null
      starts = []
      begun = []
      seen.clear()
    },
    async stop() {
      for (const follower of [...followers]) follower.close()
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}
