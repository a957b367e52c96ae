import { describe, expect, it } from 'vitest'
import { type Failure, firstStepOf, type Seen, stepOf } from './ending.ts'

const attempt = { attempt: 2, dueAt: 1000, queue: 'mail' }
const failed = (more: Partial<Failure> = {}): Seen => ({
  state: 'failed',
  failure: {
    reason: 'no such address',
    stack: null,
    finishedAt: 2000,
    attemptsMade: 1,
    attempts: 1,
    forAttempt: 2,
    ...more,
  },
})
const told = (seen: Seen): unknown => {
  const step = stepOf(seen, attempt)
  return step.kind === 'failed' ? [step.error.constructor.name, step.error.code] : step
}

describe('the state of a job in BullMQ', () => {
  it.each([
    ['goes on', { state: 'open' }, { kind: 'wait' }],
    ['was completed', { state: 'completed', value: { sent: 1 } }, { kind: 'succeeded', result: { sent: 1 } }],
    ['is gone', { state: 'gone' }, ['AttemptFailed', 'BULLMQ_REMOVED']],
    ['failed', failed(), ['AttemptFailed', 'BULLMQ_FAILED']],
    ['failed as often as BullMQ was to try', failed({ attempts: 3 }), ['AttemptDiscarded', 'BULLMQ_FAILED']],
    ['failed for good', failed({ stack: 'UnrecoverableError: lost\n at' }), ['AttemptDiscarded', 'BULLMQ_FAILED']],
    ['failed by another error', failed({ stack: 'Error: UnrecoverableError' }), ['AttemptFailed', 'BULLMQ_FAILED']],
  ] as [string, Seen, unknown][])('means the right thing when it %s', (_, seen, means) => {
    expect(told(seen)).toEqual(means)
  })

  it('is told in bounded words', () => {
    const step = stepOf(failed({ reason: 'x'.repeat(5000) }), attempt)
    expect(step.kind === 'failed' && step.error.message.length).toBe(1001)
  })
})

describe('a job that had failed when the attempt began', () => {
  it.each([
    ['done again, when an earlier attempt had it', { forAttempt: 1 }, 'again'],
    ['done again, when a later one had it, before a retry', { forAttempt: 3 }, 'again'],
    ['done again, when one of the same number had it before a retry', { finishedAt: 999 }, 'again'],
    ['done again, when nobody knows who had it', { forAttempt: null }, 'again'],
    ['done again, when nobody knows when that was', { finishedAt: null }, 'again'],
    ['a failure of this attempt, when a worker gave it back meanwhile', { finishedAt: 1000 }, 'failed'],
  ] as [string, Partial<Failure>, string][])('is %s', (_, more, kind) => {
    expect(firstStepOf(failed(more), attempt).kind).toBe(kind)
  })

  it('changes nothing for one that had not', () => {
    expect(firstStepOf({ state: 'open' }, attempt)).toEqual({ kind: 'wait' })
    expect(firstStepOf({ state: 'completed', value: 1 }, attempt)).toEqual({ kind: 'succeeded', result: 1 })
  })
})
