/** Decides whether to query the database for a key or session. An address that has used up its guesses gets only what is in memory. */
import type { Clock } from '../time/clock.ts'
import { throttle } from './throttle.ts'

export interface Guess<Found> {
  /** The client address; the empty text if unknown. */
  readonly address: string
  /** Whether memory knows the credential; needs no database read per call. */
  readonly isKnown: () => boolean | Promise<boolean>
  readonly find: () => Promise<Found | null>
}

export interface Checked<Found> {
  readonly found: Found | null
  /** Seconds until the address may guess again. 0 if it may now, or if the address is unknown: one guesser would lock out all. */
  readonly waitSeconds: number
}

export interface Guesses {
  check<Found>(guess: Guess<Found>): Promise<Checked<Found>>
  /** Counts a wrong credential that was detected elsewhere; returns how long its address had to wait before it. */
  wrong(address: string): number
}

export interface GuessLimits {
  readonly burst: number
  readonly perSecond: number
}

/** A burst of ten, then ten a minute. */
export const WRONG_KEYS: GuessLimits = { burst: 10, perSecond: 10 / 60 }
/** Larger for sessions: browsers behind one proxy whose sessions expired overnight return together. */
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
