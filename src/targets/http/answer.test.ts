/** What every answer means: the table of docs/reference/targets.md, as a test. */
import { describe, expect, it } from 'vitest'
import { healthOf, meaningOf } from './answer.ts'

const how = { now: 0, async: true }
const meaning = (status: number, headers: Record<string, string> = {}) => meaningOf({ status, headers }, how)

describe('an answer', () => {
  it.each([200, 201, 202, 203, 204, 206, 299])('%i succeeds', (status) => {
    expect(meaning(status)).toEqual({ kind: 'succeeded' })
  })

  it.each([
    [202, { location: '/jobs/1' }, 'handed_over'],
    [202, { 'everytick-async': 'true' }, 'handed_over'],
    [202, { 'everytick-async': ' TRUE ' }, 'handed_over'],
    [202, { 'everytick-async': 'false', location: '/jobs/1' }, 'succeeded'],
    [202, { 'everytick-async': 'yes' }, 'succeeded'],
    [201, { location: '/things/1' }, 'succeeded'],
    [200, { 'everytick-async': 'true' }, 'succeeded'],
  ])('%i with %j is %s', (status, headers, kind) => {
    expect(meaning(status, headers as Record<string, string>)).toEqual({ kind })
  })

  it('202 succeeds where runs are not left open', () => {
    const answer = { status: 202, headers: { location: '/jobs/1' } }
    expect(meaningOf(answer, { now: 0, async: false })).toEqual({ kind: 'succeeded' })
  })

  it.each([400, 405, 406, 411, 413, 414, 415, 422, 431, 451, 501, 505])('%i ends the run', (status) => {
    expect(meaning(status)).toMatchObject({ kind: 'discarded', code: `HTTP_${status}`, pauses: false })
  })

  it('410 ends the run and stops its schedule', () => {
    expect(meaning(410)).toMatchObject({ kind: 'discarded', code: 'HTTP_410', pauses: true })
  })

  it.each([
    ...[300, 301, 302, 304, 307, 308],
    ...[401, 403, 404, 407, 408, 409, 418, 421, 423, 424, 425, 428, 429],
    ...[500, 502, 503, 504, 507, 599, 999],
  ])('%i is tried again by the policy of the run', (status) => {
    expect(meaning(status)).toMatchObject({ kind: 'failed', code: `HTTP_${status}`, retryInMs: null })
  })

  it.each([
    [429, '60', 60_000],
    [503, '60', 60_000],
    [429, 'soon', null],
    [500, '60', null],
    [404, '60', null],
  ])('%i with Retry-After %j comes back in %s', (status, retryAfter, retryInMs) => {
    expect(meaning(status, { 'retry-after': retryAfter })).toMatchObject({ kind: 'failed', retryInMs })
  })

  it('says that a redirect was not followed', () => {
    expect(meaning(302)).toMatchObject({ message: expect.stringContaining('redirects') })
  })
})

it.each([
  [200, 'well'],
  [404, 'well'],
  [429, 'well'],
  [500, 'well'],
  [502, 'unwell'],
  [503, 'unwell'],
  [504, 'unwell'],
])('a host that answers %i is %s', (status, health) => {
  expect(healthOf(status)).toBe(health)
})
