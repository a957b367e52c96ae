/** Which known name a mistyped or differently made one is taken for. */
import { describe, expect, it } from 'vitest'
import { nearestField } from './did-you-mean.ts'

const FIELDS = [
  ...['key', 'workspace', 'cron', 'timezone', 'every', 'at', 'startAt', 'endAt', 'exclude', 'job', 'payload', 'queue'],
  ...['timeout', 'retry', 'overlap', 'maxRuns', 'catchUp', 'catchUpWindow', 'concurrencyKey', 'tags', 'description'],
]

describe('the field that is meant', () => {
  it.each([
    ['cronn', 'cron'],
    ['cron_expression', 'cron'],
    ['timeZone', 'timezone'],
    ['time_zone', 'timezone'],
    ['job-name', 'job'],
    ['jobPayload', 'payload'],
    ['retryPolicy', 'retry'],
    ['timeoutMs', 'timeout'],
    ['catchup', 'catchUp'],
    ['startTime', 'startAt'],
    ['concurrency', 'concurrencyKey'],
    ['tag', 'tags'],
    ['maxThings', undefined],
    ['color', undefined],
    ['', undefined],
    ['__proto__', undefined],
  ])('%j is near %j', (typed, field) => {
    expect(nearestField(typed, FIELDS)).toBe(field)
  })
})
