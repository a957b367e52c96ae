/** How much searching for occurrences one request or one write may cost; what a search does at its end is decided where it searches. */
export interface SearchBudget {
  /** Steps left. A step is one occurrence looked at, times the rules and merged exclusions that are asked about it. */
  left: number
}

export const searchBudget = (steps: number): SearchBudget => ({ left: steps })

/** What a search may cost that is done at once, with everything else waiting: a few milliseconds. */
export const SMALL_SEARCH = 30_000
