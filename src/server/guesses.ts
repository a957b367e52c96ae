/** Decides whether the database is asked about a key or a session: an address that has used up its guesses is answered from memory, and what memory knows still works from there. */
import type { Clock } from '../time/clock.ts'
import { throttle } from './throttle.ts'

export interface Guess<Found> {
  /** Where it comes from; the empty text when that is not known. */
  readonly address: string
  /** Whether memory knows what is asked for; costs no read for each question. */
  readonly isKnown: () => boolean | Promise<boolean>
  readonly find: () => Promise<Found | null>
}

export interface Checked<Found> {
  readonly found: Found | null
  /** After how many seconds the address may guess again. 0 where it may now, or is not known: one guesser would lock out all. */
  readonly waitSeconds: number
}

export interface Guesses {
  check<Found>(guess: Guess<Found>): Promise<Checked<Found>>
  /** Counts a wrong credential that was found out without this; returns how long its address has had to wait before it. */
  wrong(address: string): number
}

export interface GuessLimits {
  readonly burst: number
  readonly perSecond: number
}

/** Ten at once, then ten a minute. */
export const WRONG_KEYS: GuessLimits = { burst: 10, perSecond: 10 / 60 }
/** Browsers behind one proxy whose sessions ended overnight come back together. */
export const WRONG_SESSIONS: GuessLimits = { burst: 100, perSecond: 2 }

export function createGuesses(clock: Clock, limits: GuessLimits): Guesses {
  const failures = throttle(clock, limits)
  const waitOf = (address: string): number => (address === '' ? 0 : failures.look(address))
  const wrong = (address: string): number => {
    const seconds = waitOf(address)
    failures.take(address)
    return seconds
  }
  return {
    wrong,
    async check({ address, isKnown, find }) {
      if (failures.look(address) > 0 && !(await isKnown())) return { found: null, waitSeconds: waitOf(address) }
      const found = await find()
      return { found, waitSeconds: found === null ? wrong(address) : 0 }
    },
  }
}
