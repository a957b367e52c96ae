/** Failures by their codes, and by nothing that others wrote into them. */
import { expect, it } from 'vitest'
import { transportFailure } from './transport.ts'

const withCode = (code: unknown, cause?: unknown): Error =>
  Object.assign(new Error('connect to 10.1.2.3:80/secret', { cause }), { code })

it.each([
  [withCode('ECONNREFUSED'), 'ECONNREFUSED', 'connection refused (ECONNREFUSED)'],
  [withCode(undefined, withCode('ENOTFOUND')), 'ENOTFOUND', 'the host name has no address (ENOTFOUND)'],
  [withCode('CERT_HAS_EXPIRED'), 'CERT_HAS_EXPIRED', 'the call failed (CERT_HAS_EXPIRED)'],
  [new DOMException('', 'TimeoutError'), 'ETIMEDOUT', 'the connection timed out (ETIMEDOUT)'],
  [Object.assign(withCode('HPE_7'), { name: 'HTTPParserError' }), 'NOT_HTTP', 'the response is not HTTP (NOT_HTTP)'],
  [withCode('http://secret/'), 'UNKNOWN', 'the call failed (UNKNOWN)'],
  [withCode(7), 'UNKNOWN', 'the call failed (UNKNOWN)'],
  ['secret', 'UNKNOWN', 'the call failed (UNKNOWN)'],
  [null, 'UNKNOWN', 'the call failed (UNKNOWN)'],
])('a failure is told by its code', (error, reason, message) => {
  expect(transportFailure(error)).toEqual({ reason, message })
})
