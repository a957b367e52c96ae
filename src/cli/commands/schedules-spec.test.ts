import { describe, expect, it } from 'vitest'
import { specOf, timingOf, unsetOf } from './schedules-spec.ts'

describe('options of a schedule', () => {
  it('become the fields of REST', () => {
    const spec = specOf({
      ...{ job: 'x', cron: '30 2 * * *', tz: 'Europe/Berlin', gap: 'skip', payload: '{"a":1}' },
      ...{ priority: '3', attempts: '5', tag: ['mail'], catchUp: 'none', maxRuns: '10' },
    })
    expect(spec).toEqual({
      ...{ job: 'x', cron: '30 2 * * *', timezone: 'Europe/Berlin', dst: { gap: 'skip' }, payload: { a: 1 } },
      ...{ priority: 3, retry: { attempts: 5 }, tags: ['mail'], catchUp: 'none', maxRuns: 10 },
    })
    expect(timingOf(spec)).toEqual({ cron: '30 2 * * *', timezone: 'Europe/Berlin', dst: { gap: 'skip' } })
  })
  it('that are not there become nothing', () => {
    expect(specOf({})).toEqual({})
    expect(unsetOf(undefined)).toEqual({})
  })
  it('take fields away by name', () => {
    expect(unsetOf('timeout, jitter')).toEqual({ timeout: null, jitter: null })
  })
  it.each([
    ['a payload that is not JSON', { payload: '{a' }, /--payload is not valid JSON/],
    ['a number that is none', { maxRuns: 'many' }, /--max-runs must be a whole number/],
    ['a number below zero', { priority: '-1' }, /--priority must be a whole number/],
  ])('refuse %s', (_, options, message) => {
    expect(() => specOf(options)).toThrow(message)
  })
})
