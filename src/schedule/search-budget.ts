/** How much searching for occurrences one request or one write may cost; what a search does at its end is decided where it searches. */
export interface SearchBudget {
  /** Steps left. A step is one occurrence looked at, times the exclusions that are asked about it. */
  left: number
}

export const searchBudget = (steps: number): SearchBudget => ({ left: steps })
