import { describe, expect, it } from 'vitest'
import { AttemptDiscarded, AttemptFailed } from '../../run/control.ts'
import { type Ended, endingOf, notStarted } from './ending.ts'

const ended = (part: Partial<Ended>): Ended => ({
  ...{ exitCode: 0, signal: null, durationMs: 7, outputTail: 'out', errorTail: 'first\nlast words\n' },
  ...part,
})

describe('the end of a process', () => {
  it('with 0 is a result', () => {
    expect(endingOf(ended({}), [])).toEqual({ exitCode: 0, signal: null, durationMs: 7, outputTail: 'out' })
  })

  it.each([
    [
      'any other code is tried again',
      { exitCode: 3 },
      AttemptFailed,
      'COMMAND_EXIT',
      'ended with exit code 3: last words',
    ],
    ['75 as well', { exitCode: 75, errorTail: '' }, AttemptFailed, 'COMMAND_EXIT', 'ended with exit code 75'],
    [
      'one that was named is final',
      { exitCode: 64, errorTail: '' },
      AttemptDiscarded,
      'COMMAND_EXIT',
      'ended with exit code 64',
    ],
    [
      'a signal is tried again',
      { exitCode: null, signal: 'SIGSEGV', errorTail: '' },
      AttemptFailed,
      'COMMAND_SIGNAL',
      'ended by SIGSEGV',
    ],
    [
      'SIGKILL may be for want of memory',
      { exitCode: null, signal: 'SIGKILL', errorTail: '' },
      AttemptFailed,
      'COMMAND_SIGNAL',
      'ended by SIGKILL, which the system does when memory runs out',
    ],
  ])('%s', (_, part, kind, code, message) => {
    const ending = endingOf(ended(part), [64])
    expect(ending).toBeInstanceOf(kind)
    expect(ending).toMatchObject({ code, message, detail: { outputTail: 'out', durationMs: 7 } })
  })

  it('says the last line only, and not all of a long one', () => {
    const { message } = endingOf(ended({ exitCode: 1, errorTail: `a\n${'x'.repeat(4000)}` }), []) as Error
    expect(message).toMatch(/^ended with exit code 1: x{500}…$/)
  })
})

describe('a process that could not be started', () => {
  it.each([
    ['ENOENT', AttemptDiscarded, '/bin/x could not be started: there is no such file'],
    ['EACCES', AttemptDiscarded, '/bin/x could not be started: it may not be executed'],
    ['EODD', AttemptDiscarded, '/bin/x could not be started: EODD'],
    ['EAGAIN', AttemptFailed, '/bin/x could not be started: there are too many processes'],
    ['ENOMEM', AttemptFailed, '/bin/x could not be started: there is not enough memory'],
  ])('for %s is tried again only where waiting may help', (code, kind, message) => {
    const error = notStarted({ code, file: '/bin/x', missingFolder: null })
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject({ code: 'COMMAND_NOT_STARTED', message, detail: { reason: code } })
  })

  it('names a folder that is missing, and no shell text', () => {
    const error = notStarted({ code: 'ENOENT', file: null, missingFolder: '/gone' })
    expect(error.message).toBe('the shell could not be started: there is no folder /gone')
  })
})
