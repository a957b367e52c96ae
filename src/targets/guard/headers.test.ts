import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkHeaders } from './headers.ts'

const refused = (message: string) =>
  expect.objectContaining({ code: 'TARGET_REFUSED', message: expect.stringContaining(message) })

describe('headers', () => {
  it('come back with small names, in their order', () => {
    expect(checkHeaders({ Authorization: 'Bearer abc', 'X-Trace': '' })).toEqual([
      ['authorization', 'Bearer abc'],
      ['x-trace', ''],
    ])
  })

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Proxy-Authorization',
    'Proxy-Connection',
    'webhook-id',
    'Webhook-Signature',
    'Everytick-Completion-Token',
  ])('may not have %s', (name) => {
    expect(() => checkHeaders({ [name]: 'x' })).toThrow(refused('not for you to set'))
  })

  it.each(['', ' ', 'x y', 'x:', 'x\r\n', 'x\0', 'x\ty', 'ü', 'host ', '\u212aeep-alive', '(x)'])(
    'may not have the name %j',
    (name) => expect(() => checkHeaders({ [name]: 'v' })).toThrow(refused('is not the name of a header')),
  )

  it.each(['a\r\nx: y', 'a\n', '\0', 'a\tb', '\x7f', 'é', '\u010a', '\u2028', '😀'])(
    'may not have the value %j',
    (value) => {
      expect(() => checkHeaders({ x: value })).toThrow(refused('"x" has a character in it that cannot be sent'))
    },
  )

  it('may not say the same thing twice', () => {
    expect(() => checkHeaders({ 'X-A': '1', 'x-a': '2' })).toThrow(refused('"x-a" is given twice'))
  })

  it('are text', () => {
    expect(() => checkHeaders({ x: 1 } as never)).toThrow(refused('is text, not a value of type number'))
  })

  it('are not too many, and not too long', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'v']))
    expect(checkHeaders(many(64))).toHaveLength(64)
    expect(() => checkHeaders(many(65))).toThrow(refused('there are 65 headers'))
    expect(checkHeaders({ x: 'v'.repeat(16_379) })).toHaveLength(1)
    expect(() => checkHeaders({ x: 'v'.repeat(16_380) })).toThrow(refused('16385 bytes'))
  })

  it('never show a value in a refusal', () => {
    for (const headers of [{ Host: 'geheim' }, { x: 'geheim\n' }, { 'x y': 'geheim' }, { x: 'geheim'.repeat(9999) }])
      expect(() => checkHeaders(headers)).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining('geheim') }),
      )
  })

  it('pass only if they are one line each once written, whatever is tried', () => {
    const nasty = fc.constantFrom('\r', '\n', '\0', '\t', ' ', ':', 'é', '\u010a', '\u010d', 'host', 'webhook-', 'TE')
    const text = fc.string({
      unit: fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...'abXY09-_') }, nasty),
      maxLength: 8,
    })
    const outcomes = { passed: 0, refused: 0 }
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 4 }), (pairs) => {
        const headers = Object.fromEntries(pairs)
        try {
          const checked = checkHeaders(headers)
          outcomes.passed++
          // As undici writes it: one byte for each character.
          const written = Buffer.from(checked.map(([name, value]) => `${name}: ${value}\r\n`).join(''), 'latin1')
          const lines = written
            .toString('latin1')
            .split(/[\r\n]+/)
            .slice(0, -1)
          const names = lines.map((line) => line.split(': ')[0])
          return (
            names.join() === Object.keys(headers).join().toLowerCase() &&
            lines.every((line) => /^(?!host:|te:|webhook-)[^\s:]+: [\x20-\x7e]*$/.test(line))
          )
        } catch (error) {
          outcomes.refused++
          return (error as { code?: unknown }).code === 'TARGET_REFUSED'
        }
      }),
      { numRuns: 1000 },
    )
    expect(Math.min(outcomes.passed, outcomes.refused)).toBeGreaterThan(50)
  })
})
