import { describe, expect, it } from 'vitest'
import { storableLine } from './log-line.ts'

const KIB = 1024

describe('a line', () => {
  it('without data counts for the bytes of its message', () => {
    expect(storableLine('é', undefined)).toEqual({ message: 'é', data: null, bytes: 2 })
    expect(storableLine('', null)).toEqual({ message: '', data: null, bytes: 0 })
  })

  it('with data counts for the bytes of both', () => {
    expect(storableLine('a', { b: 1 })).toEqual({ message: 'a', data: { b: 1 }, bytes: 1 + '{"b":1}'.length })
  })

  it.each(['x', 'é', '漢', '👩', '\ufeff'])('of many %s is cut at 8 KiB, between two characters', (character) => {
    const { message } = storableLine(character.repeat(20_000), undefined)
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(8 * KIB)
    expect(Buffer.byteLength(message)).toBeGreaterThan(8 * KIB - 8)
    expect(message).toBe(`${character.repeat((message.length - 1) / character.length)}…`)
  })

  it('that just fits is left whole', () => {
    expect(storableLine('x'.repeat(8 * KIB), undefined).message).toHaveLength(8 * KIB)
    expect(storableLine('x'.repeat(8 * KIB + 1), undefined).message).not.toHaveLength(8 * KIB + 1)
  })

  it('shows an error, by itself or as a part', () => {
    const error = Object.assign(new RangeError('too far'), { code: 'E_FAR' })
    const shown = { name: 'RangeError', message: 'too far', code: 'E_FAR' }
    expect(storableLine('a', error).data).toMatchObject(shown)
    expect(storableLine('a', { n: 1, error }).data).toMatchObject({ n: 1, error: shown })
  })

  it('is kept without the data that cannot be stored, with the reason', () => {
    for (const data of [1n, { a: 1n }, 'x'.repeat(20 * KIB), { toJSON: () => Symbol.iterator.toString(), a: 1n }]) {
      const line = storableLine('a', data)
      expect(line.message).toBe('a')
      if (typeof data !== 'object' || !('toJSON' in data)) expect(line.data).toEqual({ notStored: expect.any(String) })
    }
  })

  it('has its data as it was when it was said', () => {
    const data = { list: [1] }
    const line = storableLine('a', data)
    data.list.push(2)
    expect(line.data).toEqual({ list: [1] })
  })

  it('is kept when its message cannot be read', () => {
    const message = Object.create(null) as string
    expect(storableLine(message, undefined).message).toBe('a message that cannot be converted to text')
    expect(storableLine(Symbol('s'), undefined).message).toBe('Symbol(s)')
  })
})
