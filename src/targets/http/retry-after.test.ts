/** `Retry-After` in all the ways in which it is written. */
import { expect, it } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const NOW = Date.parse('2027-01-01T00:00:00Z')
const HOUR = 3_600_000

it.each([
  ['30', undefined, 30_000],
  [' 30 ', undefined, 30_000],
  ['0', undefined, 1000],
  ['99999', undefined, HOUR],
  ['9999999999', undefined, HOUR],
  ['99999999999999999999', undefined, null],
  ['Fri, 01 Jan 2027 00:01:00 GMT', undefined, 60_000],
  ['Thu, 31 Dec 2026 23:00:00 GMT', undefined, 1000],
  ['Sat, 02 Jan 2027 00:00:00 GMT', undefined, HOUR],
  // The receiver's clock is an hour ahead, and it means a minute.
  ['Fri, 01 Jan 2027 01:01:00 GMT', 'Fri, 01 Jan 2027 01:00:00 GMT', 60_000],
  ['Fri, 01 Jan 2027 00:01:00 GMT', 'yesterday', 60_000],
  [undefined, 'Fri, 01 Jan 2027 01:00:00 GMT', null],
  ['', undefined, null],
  ['-5', undefined, null],
  ['1.5', undefined, null],
  ['soon', undefined, null],
  ['2027-01-01', undefined, null],
  ['Fri, 01 Foo 2027 00:01:00 GMT', undefined, null],
])('%j, said at %j, is %s', (retryAfter, date, ms) => {
  expect(retryAfterMs({ retryAfter, date }, NOW)).toBe(ms)
})
