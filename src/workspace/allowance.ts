/** Decides, purely, whether an amount may be used on what was last counted, must be counted again first, or is refused. */

/** What a process knows of one amount: the last count, when that was, and what it has let through since. */
export interface Seen {
  readonly used: number
  readonly at: number
  readonly drawn: number
}

export interface Wish {
  readonly limit: number
  readonly wanted: number
  readonly now: number
}

/** Other processes use the same quota, and planning adds runs. */
export const FRESH_MS = 2000
/** So many processes share what is left without going past it. */
const SHARES = 8

/**
 * How much a process may let through before it counts again: an eighth of what is left, so that eight processes do not pass the limit
 * together; but a hundredth of the limit at least, so that counting stays rare near it. Never more than what is left.
 */
export const allowance = (left: number, limit: number): number =>
  Math.min(left, Math.max(Math.ceil(left / SHARES), Math.floor(limit / 100)))

/** Below this a count costs too little to be remembered. */
const CHEAP = 1000

/** A count reads as many rows as the limit allows, so that a refusal stands the longer the more its count has cost: 1 s for 100,000. */
export const refusalMs = (limit: number): number => (limit < CHEAP ? 0 : limit / 100)

export function weigh(seen: Seen | null, { limit, wanted, now }: Wish): 'go' | 'count' | 'refuse' {
  if (seen === null || now - seen.at >= FRESH_MS) return 'count'
  const left = limit - seen.used
  if (seen.drawn + wanted <= allowance(left, limit)) return 'go'
  const stands = seen.drawn === 0 && now - seen.at < refusalMs(limit)
  return stands && wanted > left ? 'refuse' : 'count'
}

/** After a count. What is left is used up to the last, whatever the allowance. */
export const fits = ({ used, drawn }: Seen, { limit, wanted }: Omit<Wish, 'now'>): boolean =>
  drawn + wanted <= limit - used
