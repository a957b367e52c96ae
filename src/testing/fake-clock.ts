/** A clock that moves only when told to, and timers that ring as it passes them; who moves it, and how far, is decided elsewhere. */
import { EverytickError } from '../errors.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'

export interface FakeClock extends Clock {
  readonly timers: Timers
  /** When the next timer rings; null when none is set. */
  nextRingAt(): number | null
  /** Moves on to this instant, and rings what is due on the way at its own instant, in order. */
  moveTo(at: number): void
  /** The same by so many milliseconds. */
  moveBy(ms: number): void
}

interface Alarm {
  readonly at: number
  /** Which move may ring it first. */
  readonly move: number
  readonly ring: () => void
}

export function fakeClock(startAt: number): FakeClock {
  let now = startAt
  let moves = 0
  // In the order in which they were set, which is the order in which two of one instant ring.
  const alarms = new Set<Alarm>()

  const first = (untilMove: number): Alarm | null => {
    let found: Alarm | null = null
    for (const alarm of alarms) if (alarm.move <= untilMove && !(found && found.at <= alarm.at)) found = alarm
    return found
  }

  const moveTo = (at: number): void => {
    if (!(at >= now)) throw new EverytickError('OPTION_INVALID', 'a fake clock cannot go back')
    moves++
    for (let alarm = first(moves); alarm !== null && alarm.at <= at; alarm = first(moves)) {
      now = Math.max(now, alarm.at)
      alarms.delete(alarm)
      alarm.ring()
    }
    now = at
  }

  return {
    now: () => now,
    elapsed: () => now - startAt,
    timers: {
      set(ms, ring) {
        // One without delay waits for the next move: a real one too rings only after the work of this turn is done.
        const alarm = { at: now + Math.max(0, Math.ceil(ms)), move: ms > 0 ? 0 : moves + 1, ring }
        alarms.add(alarm)
        return () => alarms.delete(alarm)
      },
    },
    nextRingAt: () => first(moves + 1)?.at ?? null,
    moveTo,
    moveBy: (ms) => moveTo(now + ms),
  }
}
