/** What a call without an answer says of its host, and what a call that was not made costs its run. */
import { describe, expect, it } from 'vitest'
import { EverytickError } from '../../errors.ts'
import { AttemptFailed, RetryAfter } from '../../run/control.ts'
import { healthOfFailure, MAX_SENT_AWAY, sentAway } from './failure.ts'

const timedOut = AbortSignal.abort(new EverytickError('RUN_TIMEOUT', 'it took too long'))
const cancelled = AbortSignal.abort(new EverytickError('RUN_CANCELLED', 'somebody asked for it'))
const going = new AbortController().signal

describe('a call that got no answer', () => {
  it.each([
    [
      'was broken off by a timeout of its schedule that is far shorter than that of the job',
      timedOut,
      5,
      30_000,
      'unknown',
    ],
    ['came late in its attempt, and had little time', timedOut, 1000, 30_000, 'unknown'],
    ['had all the time that the job gives', timedOut, 990, 1000, 'unwell'],
    ['had five seconds', timedOut, 5000, 3_600_000, 'unwell'],
    ['was cancelled', cancelled, 60_000, 1000, 'unknown'],
    ['was refused by nobody', going, 1, 1000, 'unwell'],
  ] as const)('and %s is judged by that', (_, signal, tookMs, timeoutMs, health) => {
    expect(healthOfFailure(new Error('no answer'), { signal, tookMs, timeoutMs })).toBe(health)
  })
})

describe('a run that was sent away', () => {
  const run = { id: 'a', attempt: 1, fence: 1 }

  it('comes back when the rest is over, not with all others, and it costs no attempt', () => {
    const away = ['a', 'b', 'c', 'd'].map((id) => sentAway({ ...run, id }, 10_000))
    const delays = away.map((error) => (error instanceof RetryAfter ? error.delayMs : expect.fail('it counts')))
    for (const delay of delays) {
      expect(delay).toBeGreaterThan(10_000)
      expect(delay).toBeLessThanOrEqual(15_000)
    }
    expect(new Set(delays).size).toBeGreaterThan(1)
  })

  it.each([
    [1, 1 + MAX_SENT_AWAY, true],
    [3, 2 + MAX_SENT_AWAY, false],
    [3, 3 + MAX_SENT_AWAY, true],
  ])('in attempt %i under fence %i: is it counted? %s', (attempt, fence, counts) => {
    const error = sentAway({ ...run, attempt, fence }, 10_000)
    expect(error).toBeInstanceOf(counts ? AttemptFailed : RetryAfter)
    if (counts) expect(error).toMatchObject({ code: 'HTTP_CIRCUIT_OPEN', retryInMs: expect.any(Number) })
  })
})
