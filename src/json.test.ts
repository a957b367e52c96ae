import { describe, expect, it } from 'vitest'
import { MAX_JSON_BYTES, toJsonText } from './json.ts'

const text = (value: unknown): string => toJsonText(value, { what: 'payload' })
const back = (value: unknown): unknown => JSON.parse(text(value))
const refusal = (code: string, message?: RegExp): unknown =>
  expect.objectContaining({ code, ...(message ? { message: expect.stringMatching(message) } : {}) })

function nested(levels: number): unknown {
  let value: unknown = 'core'
  for (let i = 0; i < levels; i += 1) value = i % 2 ? [value] : { inner: value }
  return value
}

describe('a value to be stored', () => {
  it.each([
    null,
    true,
    0,
    -1.5e-300,
    '',
    'it’s "quoted" \\ and \n new',
    '🙂 a\u200Eb',
    [],
    {},
    { a: [1, { b: null }] },
  ])('comes back as it went in: %j', (value) => {
    expect(back(value)).toEqual(value)
  })

  it.each([undefined, () => 1, Symbol('x')])('without a JSON form is null: %s', (value) => {
    expect(text(value)).toBe('null')
  })

  it('may be as large as the bound, counted in bytes of UTF-8, and no larger', () => {
    expect(text('a'.repeat(MAX_JSON_BYTES - 2))).toHaveLength(MAX_JSON_BYTES)
    expect(() => text('a'.repeat(MAX_JSON_BYTES - 1))).toThrow(
      refusal('JSON_TOO_LARGE', /^payload is too large: 257 KiB/),
    )
    expect(() => text('é'.repeat(MAX_JSON_BYTES / 2))).toThrow(refusal('JSON_TOO_LARGE'))
    expect(text('é'.repeat(MAX_JSON_BYTES / 2 - 1)).length).toBeLessThan(MAX_JSON_BYTES)
  })

  it('is held to the bound it is given', () => {
    expect(() => toJsonText('a'.repeat(5000), { what: 'metadata', maxBytes: 4096 })).toThrow(
      refusal('JSON_TOO_LARGE', /^metadata is too large: 5 KiB, and the limit is 4 KiB$/),
    )
  })

  it('may be 64 levels deep, and no deeper', () => {
    expect(back(nested(64))).toEqual(nested(64))
    expect(() => text(nested(65))).toThrow(refusal('JSON_INVALID', /64 levels/))
  })

  it('is refused when it refers to itself', () => {
    const loop: Record<string, unknown> = { name: 'loop' }
    loop.self = [{ loop }]
    expect(() => text(loop)).toThrow(refusal('JSON_INVALID'))
  })

  it.each([
    ['a BigInt', { n: 1n }],
    [
      'a getter that throws',
      {
        get x() {
          throw new Error('no')
        },
      },
    ],
    [
      'a toJSON that throws nothing in particular',
      {
        toJSON() {
          throw undefined
        },
      },
    ],
  ])('is refused with a code when it holds %s', (_, value) => {
    expect(() => text(value)).toThrow(refusal('JSON_INVALID', /^payload cannot be stored as JSON/))
  })
})

describe('a NUL, which neither store can hold', () => {
  it('becomes the replacement character, in texts and in keys', () => {
    expect(back({ 'a\0b': ['\0', 'x\0\0y'] })).toEqual({ 'a\ufffdb': ['\ufffd', 'x\ufffd\ufffdy'] })
  })

  it('is told from the six characters that only look like its escape', () => {
    const lookalikes = ['\\u0000', '\\\\u0000', '\\\\\\u0000', 'u0000']
    expect(back(lookalikes)).toEqual(lookalikes)
    expect(back('\\\0')).toBe('\\\ufffd')
    expect(back('\\\\\0\\u0000')).toBe('\\\\\ufffd\\u0000')
  })
})

describe('text that no database can hold', () => {
  it.each(['a\0b', 'a\ud83db', 'a\ude42b', '\\\0'])('is refused when strict, and mended otherwise: %j', (text) => {
    expect(() => toJsonText({ text }, { what: 'payload', strict: true })).toThrow(
      expect.objectContaining({ code: 'JSON_INVALID' }),
    )
    const mended = text.replace(/\0|\p{Surrogate}/u, '\ufffd')
    expect(JSON.parse(toJsonText({ text }, { what: 'result' }))).toEqual({ text: mended })
  })

  it.each(['\\u0000', '\\\\u0000 \\ud83d', '🙂', '\u2028'])('is not found in %j', (text) => {
    expect(JSON.parse(toJsonText({ text }, { what: 'payload', strict: true }))).toEqual({ text })
  })
})

it('refuses objects that share parts without walking them for ever', () => {
  let shared: object = {}
  for (let level = 0; level < 60; level++) shared = { left: shared, right: shared }
  expect(() => toJsonText(shared, { what: 'payload' })).toThrow(expect.objectContaining({ code: 'JSON_INVALID' }))
})
