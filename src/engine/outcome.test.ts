import { describe, expect, it } from 'vitest'
import { AttemptDiscarded, AttemptFailed, Discard, HandOver, RetryAfter } from '../run/control.ts'
import type { Run } from '../run/run.ts'
import { LeasedRun, type StopReason } from './leased-runs.ts'
import { outcomeOfThrown } from './outcome.ts'

const leased = (stopped: StopReason | null = null): LeasedRun => {
  const grant = new LeasedRun({ id: 'r', fence: 1 } as Run, 0)
  grant.stopped = stopped
  return grant
}
const failure = { code: 'HTTP_503', detail: { status: 503 } }
const told = { name: 'HttpFailure', message: 'busy', code: 'HTTP_503', detail: { status: 503 } }

describe('what was thrown', () => {
  it.each([
    ['an error', new Error('no'), { kind: 'threw', error: { message: 'no' } }],
    ['RetryAfter', new RetryAfter('2s'), { kind: 'postponed', delayMs: 2000 }],
    ['Discard', new Discard('no'), { kind: 'discarded', error: { message: 'no' } }],
    ['HandOver', new HandOver('10m'), { kind: 'handed_over', waitMs: 600_000 }],
    ['a failure of a target', new AttemptFailed('HttpFailure', 'busy', failure), { kind: 'threw', error: told }],
    [
      'a failure with a time to come back',
      new AttemptFailed('HttpFailure', 'busy', { ...failure, retryInMs: 7000 }),
      { kind: 'threw', error: told, delayMs: 7000 },
    ],
    [
      'a failure for good that pauses the schedule',
      new AttemptDiscarded('HttpFailure', 'busy', { ...failure, pauseSchedule: true }),
      { kind: 'discarded', error: told, pauseSchedule: 'busy' },
    ],
  ])('names the outcome of %s', (_, thrown, outcome) => {
    expect(outcomeOfThrown(leased(), thrown)).toMatchObject(outcome)
  })

  it('is a timeout when the signal was aborted for that, in the words of a target that knows more', () => {
    const timedOut = outcomeOfThrown(leased('timed_out'), new Error('socket hang up'))
    expect(timedOut).toMatchObject({ kind: 'timed_out', error: { code: 'RUN_TIMEOUT' } })
    const failed = outcomeOfThrown(leased('timed_out'), new AttemptFailed('HttpFailure', 'busy', failure))
    expect(failed).toEqual({ kind: 'timed_out', error: expect.objectContaining(told) })
    expect(outcomeOfThrown(leased('timed_out'), new Discard('no'))).toMatchObject({ kind: 'discarded' })
  })

  it('pauses nothing, and delays nothing, unless that was asked for', () => {
    expect(outcomeOfThrown(leased(), new Discard('no'))).not.toHaveProperty('pauseSchedule')
    expect(outcomeOfThrown(leased(), new AttemptFailed('F', 'no', failure))).not.toHaveProperty('delayMs')
  })

  it('hands over though its worker stops, and not what is to be cancelled', () => {
    expect(outcomeOfThrown(leased('stopping'), new HandOver('1m'))).toMatchObject({ kind: 'handed_over' })
    expect(outcomeOfThrown(leased('cancelled'), new HandOver('1m'))).toEqual({ kind: 'cancelled' })
  })

  it('makes a reason for the pause that any store can hold', () => {
    const reason = (message?: string) => outcomeOfThrown(leased(), new Discard(message, { pauseSchedule: true }))
    expect(reason('a\0b\ud800')).toMatchObject({ pauseSchedule: 'a\ufffdb\ufffd' })
    expect(reason('x'.repeat(900))).toMatchObject({ pauseSchedule: 'x'.repeat(500) })
    expect(reason()).toMatchObject({ pauseSchedule: 'its job discarded the run' })
  })

  it('keeps no detail of errors that are not a target’s, nor one that is too large or no JSON', () => {
    const detailOf = (thrown: unknown) =>
      (outcomeOfThrown(leased(), thrown) as { error: { detail?: unknown } }).error.detail
    expect(detailOf(Object.assign(new Error('no'), { detail: { password: 'x' } }))).toBeUndefined()
    const large = new AttemptFailed('F', 'no', { code: 'C', detail: 'x'.repeat(17_000) })
    expect(detailOf(large)).toEqual({ notStored: 'detail is too large: 17 KiB, and the limit is 16 KiB' })
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const round = new AttemptFailed('F', 'no', { code: 'C', detail: circle as never })
    expect(detailOf(round)).toMatchObject({ notStored: expect.stringContaining('cannot be stored as JSON') })
  })
})
