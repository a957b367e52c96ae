/** Decides, without I/O, whether the retry budget of a queue covers a retry, so that retries do not overload a failing service; otherwise it delays the retry. */
import type { Verdict } from './settle.ts'

/** What a queue has spent; the past fades, so that only the last minute or so counts. */
export interface RetryBudget {
  readonly attempts: number
  readonly retries: number
  /** Retries that may be had beyond the share. */
  readonly reserve: number
  /** Up to when the past has faded and the reserve has refilled. */
  readonly at: number
}

export interface Ended {
  /** Retries per attempt, from 0 to 1. */
  readonly share: number
  readonly verdict: Verdict
  readonly now: number
}

/** What a queue of little traffic may retry without asking for a share. */
const RESERVE = 10
const REFILL_PER_MS = 1 / 1000
/** After so long, a third of the past is left. */
const MEMORY_MS = 60_000
/** By how much a retry that the budget does not cover is later. */
const PUT_OFF_MS = 30_000

export const freshBudget = (now: number): RetryBudget => ({ attempts: 0, retries: 0, reserve: RESERVE, at: now })

/** Adds one attempt: returns the new budget and the verdict, delayed if it is a retry beyond the budget. */
export function spendRetry(
  budget: RetryBudget,
  { share, verdict, now }: Ended,
): { budget: RetryBudget; verdict: Verdict } {
  const faded = fade(budget, now)
  const spent = { ...faded, attempts: faded.attempts + 1 }
  if (verdict.kind !== 'retry' || !verdict.counts) return { budget: spent, verdict }
  if (spent.retries + 1 <= share * spent.attempts) return { budget: { ...spent, retries: spent.retries + 1 }, verdict }
  if (spent.reserve >= 1) return { budget: { ...spent, reserve: spent.reserve - 1 }, verdict }
  return { budget: spent, verdict: { ...verdict, delayMs: verdict.delayMs + PUT_OFF_MS } }
}

/** Attempts and retries fade alike, so that their share stays what it was. */
function fade({ attempts, retries, reserve, at }: RetryBudget, now: number): RetryBudget {
  const passed = Math.max(0, now - at)
  const left = Math.exp(-passed / MEMORY_MS)
  return {
    attempts: attempts * left,
    retries: retries * left,
    reserve: Math.min(RESERVE, reserve + passed * REFILL_PER_MS),
    at: at + passed,
  }
}
