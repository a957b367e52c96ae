import { describe, expect, it } from 'vitest'
import { type Attempted, isLastAttempt, MAX_UNCOUNTED, type Outcome, RETURNED, settle, type Verdict } from './settle.ts'

const error = { name: 'TypeError', message: 'rate is undefined' }
const policy = { retry: { attempts: 3, backoff: 'fixed', baseMs: 1000, maxMs: 1000 } } as const
const run = (attempt: number, cancelRequested = false): Attempted => ({
  attempt,
  fence: attempt,
  policy,
  cancelRequested,
})

const CANCELLED: Verdict = { kind: 'final', state: 'cancelled' }
const FAILED: Verdict = { kind: 'final', state: 'failed', error }
const again = (reason: string, delayMs: number, rest: object): object => ({ kind: 'retry', reason, delayMs, ...rest })

interface Row {
  readonly outcome: Outcome
  /** With attempts left, with none left, and with an operator waiting for the run to stop. */
  readonly early: object
  readonly last: object
  readonly cancelling: object
}

const retried = { counts: true, error }
const uncounted = { counts: false, error: null }
const lost = { name: 'LeaseLost', message: 'the lease expired because the worker did not renew it', code: 'LEASE_LOST' }

const TABLE: readonly Row[] = [
  {
    outcome: { kind: 'returned', result: { sent: 3 } },
    early: { kind: 'final', state: 'succeeded', result: { sent: 3 } },
    last: { kind: 'final', state: 'succeeded', result: { sent: 3 } },
    // Its result is kept: the work may have been done all the same.
    cancelling: { kind: 'final', state: 'cancelled', result: { sent: 3 } },
  },
  { outcome: { kind: 'threw', error }, early: again('retry', 500, retried), last: FAILED, cancelling: CANCELLED },
  { outcome: { kind: 'discarded', error }, early: FAILED, last: FAILED, cancelling: FAILED },
  {
    outcome: { kind: 'threw', error, delayMs: 9 },
    early: again('retry', 9, retried),
    last: FAILED,
    cancelling: CANCELLED,
  },
  {
    outcome: { kind: 'discarded', error, pauseSchedule: 'gone' },
    early: { ...FAILED, pauseSchedule: 'gone' },
    last: { ...FAILED, pauseSchedule: 'gone' },
    cancelling: { ...FAILED, pauseSchedule: 'gone' },
  },
  {
    outcome: { kind: 'postponed', delayMs: 7 },
    early: again('postponed', 7, uncounted),
    last: again('postponed', 7, uncounted),
    cancelling: CANCELLED,
  },
  {
    outcome: { kind: 'timed_out', error },
    early: again('timed_out', 500, retried),
    last: FAILED,
    cancelling: CANCELLED,
  },
  {
    outcome: { kind: 'lost' },
    early: again('lost', 500, { counts: true, error: lost }),
    last: { kind: 'final', state: 'failed', error: lost },
    cancelling: CANCELLED,
  },
  { outcome: { kind: 'cancelled' }, early: CANCELLED, last: CANCELLED, cancelling: CANCELLED },
]

describe('the verdict on an attempt', () => {
  describe.each(TABLE)('that $outcome.kind', ({ outcome, early, last, cancelling }) => {
    it('with attempts left', () => {
      expect(settle(run(1), outcome, 0.5)).toEqual(early)
      expect(settle(run(2), outcome, 0.5)).toEqual(early)
    })

    it('with none left', () => {
      expect(settle(run(3), outcome, 0.5)).toEqual(last)
      expect(settle(run(4), outcome, 0.5)).toEqual(last)
    })

    it('that an operator wants cancelled', () => {
      expect(settle(run(1, true), outcome, 0.5)).toEqual(cancelling)
    })
  })

  it.each([
    ['stopping', 'released'],
    ['unknown_job', 'unknown_job'],
  ] as const)(
    'gives back, uncounted, what a worker that is %s cannot finish, however often it happens',
    (why, reason) => {
      for (const attempt of [1, 3, 100])
        expect(settle(run(attempt), { kind: 'released', delayMs: 5, why }, 0.5)).toEqual(again(reason, 5, uncounted))
    },
  )

  describe('whose worker process was ended by an error that no code caught', () => {
    const interrupted = (isByAnother: boolean): Outcome => ({ kind: 'interrupted', error, isByAnother })
    const givenBack = again('released', 0, { counts: false, error })
    const claimed = (attempt: number, fence: number, cancelRequested = false): Attempted => ({
      ...run(attempt, cancelRequested),
      fence,
    })

    it('gives it back uncounted, however often, while the error is known to be of another run', () => {
      for (const [attempt, fence] of [
        [1, 1],
        [3, 3],
        [1, 500],
      ] as const)
        expect(settle(claimed(attempt, fence), interrupted(true), 0.5)).toEqual(givenBack)
    })

    it('gives it back uncounted a bounded number of times while the origin is unknown, and then counts', () => {
      for (const attempt of [1, 3])
        expect(settle(claimed(attempt, attempt + MAX_UNCOUNTED - 1), interrupted(false), 0.5)).toEqual(givenBack)
      const counted = again('lost', 500, retried)
      expect(settle(claimed(1, 1 + MAX_UNCOUNTED), interrupted(false), 0.5)).toEqual(counted)
      expect(settle(claimed(3, 3 + MAX_UNCOUNTED), interrupted(false), 0.5)).toEqual(FAILED)
    })

    it('ends it as cancelled when an operator wants it so', () => {
      for (const isByAnother of [true, false])
        for (const fence of [1, 100])
          expect(settle(claimed(1, fence, true), interrupted(isByAnother), 0.5)).toEqual(CANCELLED)
    })
  })

  it('returns a run that never began to its place, uncounted, whatever its policy allows', () => {
    for (const attempt of [1, 3, 100]) {
      expect(settle(run(attempt), { kind: 'not_begun' }, 0.5)).toEqual(RETURNED)
      const once = { ...run(attempt), policy: { ...policy, delivery: 'at_most_once' } } as const
      expect(settle(once, { kind: 'not_begun' }, 0.5)).toEqual(RETURNED)
    }
    expect(RETURNED).toMatchObject({ kind: 'retry', counts: false, keepsDue: true })
    expect(settle(run(1, true), { kind: 'not_begun' }, 0.5)).toEqual(CANCELLED)
  })

  it.each([
    ['the first of three', { attempt: 1, policy }, false],
    ['the last of three', { attempt: 3, policy }, true],
    ['the only one that may begin', { attempt: 1, policy: { ...policy, delivery: 'at_most_once' } }, true],
  ] as const)('knows whether %s is the last attempt', (_, attempted, isLast) => {
    expect(isLastAttempt(attempted)).toBe(isLast)
  })

  it('takes the jitter from the roll it is handed, so that the same roll gives the same verdict', () => {
    const delays = [0, 0.25, 0.999].map((roll) => settle(run(1), { kind: 'threw', error }, roll))
    expect(delays).toMatchObject([{ delayMs: 0 }, { delayMs: 250 }, { delayMs: 999 }])
  })

  it('tries a run that is allowed one attempt no second time', () => {
    const once = { ...run(1), policy: { retry: { ...policy.retry, attempts: 1 } } }
    expect(settle(once, { kind: 'threw', error }, 0)).toEqual(FAILED)
    expect(settle(once, { kind: 'lost' }, 0)).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
  })
})

describe('a run that an operator wants cancelled', () => {
  it('ends when its worker hands it back, instead of being granted once more', () => {
    const run = {
      attempt: 1,
      fence: 1,
      policy: { retry: { attempts: 3, backoff: 'fixed', baseMs: 0, maxMs: 0 } },
      cancelRequested: true,
    } as const
    expect(settle(run, { kind: 'released', delayMs: 0, why: 'stopping' }, 0)).toEqual({
      kind: 'final',
      state: 'cancelled',
    })
  })
})

describe('a run that may happen at most once', () => {
  const policy = { retry: { attempts: 5, backoff: 'fixed', baseMs: 0, maxMs: 0 }, delivery: 'at_most_once' } as const
  const run = { attempt: 1, fence: 1, policy, cancelRequested: false }
  const error = { name: 'Error', message: 'no' }
  const abandoned = { kind: 'final', state: 'failed', error: { code: 'RUN_ABANDONED' } }

  it.each([
    ['returned', { kind: 'returned', result: 7 }, { kind: 'final', state: 'succeeded', result: 7 }],
    ['threw', { kind: 'threw', error }, { kind: 'final', state: 'failed', error }],
    ['was discarded', { kind: 'discarded', error }, { kind: 'final', state: 'failed', error }],
    [
      'was discarded with its schedule',
      { kind: 'discarded', error, pauseSchedule: 'gone' },
      { kind: 'final', state: 'failed', error, pauseSchedule: 'gone' },
    ],
    ['was told when to come back', { kind: 'threw', error, delayMs: 9 }, { kind: 'final', state: 'failed', error }],
    ['took too long', { kind: 'timed_out', error }, { kind: 'final', state: 'failed', error }],
    ['was cancelled', { kind: 'cancelled' }, { kind: 'final', state: 'cancelled' }],
    ['lost its lease', { kind: 'lost' }, abandoned],
    ['met the error of another run', { kind: 'interrupted', error, isByAnother: true }, abandoned],
    ['met an error of unknown origin', { kind: 'interrupted', error, isByAnother: false }, abandoned],
    ['asked to come back later', { kind: 'postponed', delayMs: 5 }, abandoned],
    ['was begun by a worker that stops', { kind: 'released', delayMs: 0, why: 'stopping' }, abandoned],
    [
      'was not begun, since its job is unknown',
      { kind: 'released', delayMs: 5, why: 'unknown_job' },
      { kind: 'retry' },
    ],
  ] as const)('that %s is never begun a second time', (_, outcome, verdict) => {
    expect(settle(run, outcome, 0.5)).toMatchObject(verdict)
  })

  it('ends as cancelled when an operator wants it so, also when it returned', () => {
    expect(settle({ ...run, cancelRequested: true }, { kind: 'returned', result: 7 }, 0.5)).toEqual({
      kind: 'final',
      state: 'cancelled',
      result: 7,
    })
    expect(settle({ ...run, cancelRequested: true }, { kind: 'lost' }, 0.5)).toEqual({
      kind: 'final',
      state: 'cancelled',
    })
  })
})
