/** One client of the event stream: buffers events, writes at most four times a second and only while the client reads, and disconnects slow clients. */
import type { Timers } from '../../time/timers.ts'
import type { Principal } from '../principal.ts'
import { hears, type LiveEvent, positionOf, resyncText, type Wish } from './event.ts'

export interface Follower {
  readonly principal: Principal
  /** Adds a live event; events are buffered until `begin` has delivered the missed ones. */
  offer(events: readonly LiveEvent[]): void
  /** Delivers the missed events up to an instant, or resync if null; then live events follow. */
  begin(missed: readonly LiveEvent[] | null, untilAt: number): void
  /** Sends resync: the client missed too many events and should reload everything. */
  resync(at: number): void
  /** Sends a keep-alive comment, with the position to resume from if known. */
  reportPresence(toldUntilAt: number | null): void
  /** The client is ready for more. */
  pump(): void
  close(): void
}

/** The connection to the client. */
export interface Outlet {
  /** Whether the client is ready to read. */
  ready(): boolean
  write(text: string): void
  end(): void
}

export interface FollowerOptions {
  readonly principal: Principal
  readonly wish: Wish
  readonly timers: Timers
  readonly outlet: Outlet
  readonly onClose: () => void
}

const GATHER_MS = 250
/** With more missed events than this, a reload is cheaper. */
export const MAX_WAITING = 20_000
/** The most bytes per write, to bound the memory for 500 slow clients. */
const CHUNK_LENGTH = 65_536
const OPENING = 'retry: 2000\n\n'

export function createFollower({ principal, wish, timers, outlet, onClose }: FollowerOptions): Follower {
  let waiting: string[] = [OPENING]
  /** How many of the buffered events to write now; the others wait for the next write. */
  let due = 1
  let leased: LiveEvent[] | null = []
  /** Whether the buffer overflowed. */
  let lost = false
  /** Ids of replayed events, because they may arrive once more as live events. */
  let known: ReadonlySet<string | null> = new Set()
  let cancel: (() => void) | null = null
  let stalled = false
  let closed = false

  const close = (): void => {
    if (closed) return
    closed = true
    cancel?.()
    waiting = []
    leased = null
    onClose()
    outlet.end()
  }
  const pump = (): void => {
    let taken = 0
    while (!closed && taken < due && outlet.ready()) {
      let text = ''
      while (taken < due && text.length < CHUNK_LENGTH) text += waiting[taken++]
      outlet.write(text)
    }
    waiting.splice(0, taken)
    due -= taken
    if (due === 0 && waiting.length > 0) later()
  }
  const flush = (): void => {
    cancel = null
    due = waiting.length
    pump()
  }
  const later = (): void => {
    if (!closed && due === 0) cancel ??= timers.set(GATHER_MS, flush)
  }
  const say = (texts: readonly string[]): void => {
    for (const text of texts) waiting.push(text)
    if (waiting.length > 0) later()
  }
  const resync = (at: number): void => {
    waiting = [...waiting.slice(0, waiting[0] === OPENING ? 1 : 0), resyncText(at)]
    due = Math.min(due, waiting.length)
    later()
  }
  const isTooMuch = (at: number): boolean => {
    if (waiting.length <= MAX_WAITING) return false
    if (due > 0 && !outlet.ready()) close()
    else resync(at)
    return true
  }
  const heard = (events: readonly LiveEvent[]): LiveEvent[] => events.filter((event) => hears(event, principal, wish))
  const tell = (events: readonly LiveEvent[]): void => {
    const news = events.filter(({ id }) => id === null || !known.has(id))
    say(news.map(({ text }) => text))
    const last = news.at(-1)
    if (last) isTooMuch(last.at)
  }

  return {
    principal,
    pump() {
      stalled = false
      pump()
    },
    close,
    resync(at) {
      if (leased !== null) lost = true
      else if (!closed) resync(at)
    },
    offer(events) {
      if (closed) return
      if (leased === null) tell(heard(events))
      else if (leased.length > MAX_WAITING) lost = true
      else for (const event of heard(events)) leased.push(event)
    },
    begin(missed, untilAt) {
      if (closed || leased === null) return
      const meanwhile = leased
      leased = null
      if (missed === null || lost) return resync(untilAt)
      const theirs = heard(missed)
      known = new Set(theirs.map(({ id }) => id))
      say(theirs.map(({ text }) => text))
      // An id, so that a client that has received no event can resume from here too.
      say([`id: ${positionOf(untilAt)}\n\n`])
      tell(meanwhile)
    },
    reportPresence(toldUntilAt) {
      if (closed) return
      if (stalled) return close()
      stalled = !outlet.ready()
      known = new Set()
      say([toldUntilAt === null || leased !== null ? ': beat\n\n' : `id: ${positionOf(toldUntilAt)}\n: beat\n\n`])
    },
  }
}
