import { describe, expect, it } from 'vitest'
import type { Run } from '../run/run.ts'
import type { JournalEntry } from '../store/contract/history.ts'
import { attemptsOf } from './attempts.ts'

const error = { name: 'TypeError', message: 'rate is undefined' }
const run = (change: Partial<Run>): Run =>
  ({
    ...{
      id: 'r',
      state: 'succeeded',
      attempt: 1,
      fence: 1,
      workerId: 'w',
      startedAt: 10,
      finishedAt: 20,
      schedule: null,
    },
    ...{ error: null, ...change },
  }) as Run
const entry = (kind: JournalEntry['kind'], at: number, data: JournalEntry['data'] = null): JournalEntry => ({
  ...{ at, kind, runId: 'r', scheduleId: null, data },
})
const shown = (of: Run, journal: JournalEntry[] = []): string[] =>
  attemptsOf(of, journal).map(({ kind, at }) => `${kind} ${at}`)

describe('the attempts of a run', () => {
  it.each([
    ['succeeded at once', run({}), [], ['succeeded 20']],
    ['is running', run({ state: 'running', finishedAt: null }), [], ['running 10']],
    ['failed at once', run({ state: 'failed', error }), [], ['failed 20']],
    [
      'was cancelled while it ran',
      run({ state: 'cancelled' }),
      [entry('cancel_requested', 15)],
      ['cancel_requested 15', 'cancelled 20'],
    ],
    ['has not begun', run({ state: 'pending', fence: 0, startedAt: null, finishedAt: null }), [], []],
    ['was cancelled before it began', run({ state: 'cancelled', fence: 0, startedAt: null }), [], []],
    [
      'succeeded at the second attempt',
      run({ attempt: 2, fence: 2, startedAt: 12 }),
      [entry('retry', 11, { fence: 1 })],
      ['retry 11', 'succeeded 20'],
    ],
    [
      'waits for its second attempt',
      run({ state: 'pending', finishedAt: null }),
      [entry('timed_out', 11, { fence: 1 })],
      ['timed_out 11'],
    ],
    [
      'was cancelled while it waited for its second attempt',
      run({ state: 'cancelled' }),
      [entry('lost', 11, { fence: 1 }), entry('cancel_requested', 20)],
      ['lost 11', 'cancel_requested 20'],
    ],
    [
      'has a result that came too late',
      run({ attempt: 2, fence: 2, finishedAt: 15 }),
      [entry('lost', 11, { fence: 1 }), entry('refused', 18, { fence: 1 })],
      ['lost 11', 'succeeded 15', 'refused 18'],
    ],
    [
      'was brought back and waits',
      run({ state: 'pending', attempt: 0, startedAt: null, finishedAt: null }),
      [entry('retried', 30)],
      ['retried 30'],
    ],
  ] as const)('that %s', (_, of, journal, expected) => {
    expect(shown(of, [...journal])).toEqual(expected)
  })

  it('name worker, fence and start of the last, and how it failed', () => {
    const about = { attempt: 1, fence: 1, workerId: 'w', startedAt: '1970-01-01T00:00:00.010Z' }
    expect(attemptsOf(run({}), [])[0]).toEqual({ runId: 'r', scheduleId: null, kind: 'succeeded', at: 20, data: about })
    expect(attemptsOf(run({ state: 'failed', error }), [])[0]!.data).toEqual({ ...about, error })
  })
})
