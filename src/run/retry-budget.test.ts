import { describe, expect, it } from 'vitest'
import { freshBudget, type RetryBudget, spendRetry } from './retry-budget.ts'
import type { Verdict } from './settle.ts'

const done: Verdict = { kind: 'final', state: 'succeeded', result: null }
const again: Verdict = { kind: 'retry', delayMs: 100, reason: 'retry', counts: true, error: null }

/** Letters: `s` succeeded, `r` wants a retry, a number lets so many seconds pass. Answers what became of the retries. */
function play(share: number, steps: readonly (string | number)[]): string {
  let budget: RetryBudget = freshBudget(0)
  let now = 0
  let answer = ''
  for (const step of steps) {
    if (typeof step === 'number') {
      now += step * 1000
      continue
    }
    for (const letter of step) {
      const ended = spendRetry(budget, { share, verdict: letter === 's' ? done : again, now })
      budget = ended.budget
      if (ended.verdict.kind === 'retry') answer += ended.verdict.delayMs === 100 ? 'now ' : 'later '
    }
  }
  return answer.trim().replace(/(now|later)( \1)*/g, (run, word) => `${run.split(' ').length} ${word}`)
}

describe('a retry budget', () => {
  it.each<[string, number, (string | number)[], string]>([
    ['without traffic has a reserve of ten', 0, ['r'.repeat(12)], '10 now 2 later'],
    ['gets its reserve back one by one, a second each', 0, ['r'.repeat(10), 2, 'rrr'], '12 now 1 later'],
    ['never has more than ten in reserve', 0, [3600, 'r'.repeat(12)], '10 now 2 later'],
    ['allows its share of attempts beyond the reserve', 0.2, ['s'.repeat(80), 'r'.repeat(34)], '32 now 2 later'],
    ['forgets attempts of long ago', 0.2, ['s'.repeat(1000), 3600, 'r'.repeat(14)], '12 now 2 later'],
    ['of the whole puts nothing off', 1, ['r'.repeat(50)], '50 now'],
  ])('%s', (_, share, steps, expected) => expect(play(share, steps)).toBe(expected))

  it('puts off by half a minute, and changes nothing else', () => {
    const spent: RetryBudget = { attempts: 0, retries: 0, reserve: 0, at: 0 }
    expect(spendRetry(spent, { share: 0.2, verdict: again, now: 0 }).verdict).toEqual({ ...again, delayMs: 30_100 })
  })

  it('is not asked for what does not count as an attempt', () => {
    const spent: RetryBudget = { attempts: 0, retries: 0, reserve: 0, at: 0 }
    const postponed: Verdict = { ...again, reason: 'postponed', counts: false }
    expect(spendRetry(spent, { share: 0, verdict: postponed, now: 0 }).verdict).toEqual(postponed)
  })
})
