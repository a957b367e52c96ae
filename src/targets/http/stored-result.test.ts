/** What is kept of an answer, and that it always fits where it is stored. */
import { describe, expect, it } from 'vitest'
import { toStoredResult } from './stored-result.ts'

const heard = (body: Buffer | string, headers: Record<string, string> = {}) => ({
  status: 200,
  headers,
  body: Buffer.from(body as string),
  truncated: false,
})
const NOTHING = { headers: [], secrets: [] }

describe('of an answer', () => {
  it.each([
    ['text', 'héllo', 'héllo'],
    ['nothing', '', null],
    ['text with lines', 'a\r\n\tb', 'a\r\n\tb'],
    ['a NUL', 'a\0b', null],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x41]), null],
    ['half a letter at the end', Buffer.from('aé').subarray(0, 2), 'a'],
  ])('with %s as its body the right thing is kept', (_, body, kept) => {
    expect(toStoredResult(heard(body), NOTHING).body).toBe(kept)
  })

  it('that is packed nothing is kept of the body', () => {
    expect(toStoredResult(heard('abc', { 'content-encoding': 'br' }), NOTHING).body).toBeNull()
    expect(toStoredResult(heard('abc', { 'content-encoding': 'identity' }), NOTHING).body).toBe('abc')
  })

  it('only named headers are kept, short and printable', () => {
    const headers = { a: 'yes\u00e9\n', b: 'no', c: 'x'.repeat(600) }
    const kept = toStoredResult(heard('', headers), { headers: ['a', 'c', 'missing'], secrets: [] })
    expect(kept.headers).toEqual({ a: 'yes??', c: 'x'.repeat(512) })
  })

  it('what was told as a secret is struck out', () => {
    const kept = toStoredResult(heard('you said abc-123!', { a: 'abc-123' }), { headers: ['a'], secrets: ['abc-123'] })
    expect(kept).toMatchObject({ headers: { a: '[redacted]' }, body: 'you said [redacted]!' })
  })

  it('the beginning of a secret is struck out where the answer was cut off within it', () => {
    const secrets = ['abcdef-123', 'abcdef-456']
    const cut = (body: string, truncated = true) =>
      toStoredResult({ ...heard(body), truncated }, { headers: [], secrets }).body
    expect(cut('you said abcdef-12')).toBe('you said [redacted]')
    expect(cut('you said abcd')).toBe('you said [redacted]')
    expect(cut('you said abc')).toBe('you said abc')
    expect(cut('you said abcdef', false)).toBe('you said abcdef')
  })

  it('no more is kept than fits beside an error, whatever JSON makes of it', () => {
    const names = Array.from({ length: 50 }, (_, i) => `h${i}`)
    const headers = Object.fromEntries(names.map((name) => [name, '"'.repeat(600)]))
    for (const body of ['"'.repeat(8192), '\\'.repeat(8192), '😀'.repeat(2048), '\n'.repeat(8192)]) {
      const kept = toStoredResult(heard(body, headers), { headers: names, secrets: [] })
      expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(16 * 1024)
      expect(kept.body).not.toMatch(/\p{Surrogate}/u)
    }
  })
})
