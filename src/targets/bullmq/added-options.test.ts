import type { JobsOptions } from 'bullmq'
import { describe, expect, it } from 'vitest'
import { addedOptions, checkOptions, type WaitFor } from './added-options.ts'

const refusal = (options: unknown, wait: WaitFor): unknown => {
  try {
    checkOptions(options as JobsOptions, wait, 'bullmq() "mail"')
    return 'taken'
  } catch (error) {
    return (error as { code: unknown }).code
  }
}

describe('options for BullMQ', () => {
  it('refuses those that would make two jobs of a run, or none', () => {
    for (const key of ['jobId', 'deduplication', 'debounce', 'repeat', 'parent']) {
      expect([key, refusal({ [key]: {} }, 'accepted')]).toEqual([key, 'OPTION_INVALID'])
    }
    for (const not of [null, 'x', []]) expect(refusal(not, 'accepted')).toBe('OPTION_INVALID')
  })

  it.each([
    [true, 'OPTION_INVALID'],
    [0, 'OPTION_INVALID'],
    [100, 'OPTION_INVALID'],
    [{ count: 100 }, 'OPTION_INVALID'],
    [{ age: 86_400, count: 100 }, 'OPTION_INVALID'],
    [{ age: 59 }, 'OPTION_INVALID'],
    [{ age: 60 }, 'taken'],
    [{ age: 60, limit: 10 }, 'taken'],
    [false, 'taken'],
    [undefined, 'taken'],
  ])('asks whoever waits for the end to keep the job: %j is %s', (removal, answer) => {
    expect(refusal({ removeOnComplete: removal }, 'completed')).toBe(answer)
    expect(refusal({ removeOnFail: removal }, 'completed')).toBe(answer)
    expect(refusal({ removeOnComplete: removal, removeOnFail: removal }, 'accepted')).toBe('taken')
  })
})

describe('what a job is added with', () => {
  const added = (wait: WaitFor, options: JobsOptions = {}, defaults: JobsOptions = {}): JobsOptions =>
    addedOptions({ run: 'id', wait, options, defaults })

  it('leaves a mark that outlives the job where nobody waits for its end', () => {
    expect(added('accepted', { attempts: 5, removeOnComplete: true }, { removeOnFail: true })).toEqual({
      jobId: 'id',
      deduplication: { id: 'id', ttl: 3_600_000 },
      attempts: 5,
      removeOnComplete: true,
    })
  })

  it('has the job kept where somebody waits for its end', () => {
    const kept = { removeOnComplete: { age: 3600 }, removeOnFail: { age: 86_400 } }
    expect(added('completed')).toEqual({ jobId: 'id', ...kept })
    expect(added('completed', {}, { removeOnComplete: true, removeOnFail: 1000 })).toEqual({ jobId: 'id', ...kept })
    const own = { removeOnComplete: { age: 60 }, removeOnFail: false }
    expect(added('completed', own, { removeOnComplete: true })).toEqual({ jobId: 'id', ...own })
    expect(added('completed', {}, own)).toEqual({ jobId: 'id', ...own })
  })
})
