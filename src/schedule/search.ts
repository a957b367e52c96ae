/** Searches for the coming occurrences that may run, within a budget, and refuses a timing that exceeds it; how slices of a search share the event loop is the caller's matter. */
import { EverytickError } from '../errors.ts'
import { allSteps, type Steps } from '../time/steps.ts'
import { type SearchBudget, SMALL_SEARCH, searchBudget } from './search-budget.ts'
import type { Slots } from './slots.ts'

/** Steps between two places where other work may come between: about a millisecond. */
const SLICE = 5000

/** Occurrences after `afterAt` that may run, up to `count`, in small steps. */
export function* findingRuns(slots: Slots, wanted: WantedRuns, budget: SearchBudget): Steps<number[]> {
  const { afterAt, count, untilAt = Number.POSITIVE_INFINITY } = wanted
  const found: number[] = []
  const slice = searchBudget(SLICE)
  for (let from = afterAt; found.length < count; ) {
    const given = slice.left
    const { at, stoppedAt } = slots.seek(from, slice)
    budget.left -= given - slice.left
    if (at === null && stoppedAt === null) break
    from = at ?? stoppedAt!
    if (from > untilAt) break
    if (at !== null) found.push(at)
    if (budget.left <= 0 && found.length < count) throw expensive(slots)
    if (slice.left > 0) continue
    slice.left = SLICE
    yield
  }
  return found
}

/** The first after `after`, searched at once. */
export const nextRunAt = (
  slots: Slots,
  after: number,
  budget: SearchBudget = searchBudget(SMALL_SEARCH),
): number | null => allSteps(findingRuns(slots, { afterAt: after, count: 1 }, budget))[0] ?? null

/** The same for views: `otherwise` where that takes too many steps. */
export function nextRunOr(slots: Slots, after: number, otherwise: number | null): number | null {
  try {
    return nextRunAt(slots, after)
  } catch (error) {
    if (error instanceof EverytickError && error.code === 'TIMING_EXPENSIVE') return otherwise
    throw error
  }
}

export interface WantedRuns {
  readonly afterAt: number
  readonly count: number
  /** None after this are looked for. */
  readonly untilAt?: number
}

const expensive = ({ expression }: Slots): EverytickError =>
  new EverytickError(
    'TIMING_EXPENSIVE',
    `exclude: what it leaves of "${expression.slice(0, 300)}" is nothing, or too rare to be found in time`,
    { hint: 'write the times that are left as an expression of their own, or several with any; or exclude less' },
  )
