/** Keeps the retry budget of each queue in this process; what a budget allows is `run/retry-budget.ts`. */
import { freshBudget, type RetryBudget, spendRetry } from '../run/retry-budget.ts'
import type { Verdict } from '../run/settle.ts'
import type { Clock } from '../time/clock.ts'

export interface RetryBudgets {
  /** One attempt in the queue ended so; answers the verdict, put off where its budget is spent. */
  spend(queue: string, verdict: Verdict): Verdict
}

type Shares = Readonly<Record<string, { readonly retryBudget: number | null }>>

export function createRetryBudgets(queues: Shares, clock: Clock): RetryBudgets {
  const budgets = new Map<string, RetryBudget>()
  return {
    spend(queue, verdict) {
      const share = queues[queue]?.retryBudget ?? null
      if (share === null) return verdict
      const now = clock.elapsed()
      const ended = spendRetry(budgets.get(queue) ?? freshBudget(now), { share, verdict, now })
      budgets.set(queue, ended.budget)
      return ended.verdict
    },
  }
}
