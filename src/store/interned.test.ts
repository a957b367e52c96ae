import { describe, expect, it } from 'vitest'
import { interned } from './interned.ts'

describe('a text that many rows repeat', () => {
  it('is one value for all of them, which nobody can change', () => {
    const text = '{"retry":{"attempts":3}}'
    const value = interned<{ retry: { attempts: number } }>(text)
    expect(value).toEqual({ retry: { attempts: 3 } })
    expect(interned(text)).toBe(value)
    expect(() => Object.assign(value.retry, { attempts: 4 })).toThrow(TypeError)
  })

  it('is read again when there were too many others, and is the same', () => {
    for (let i = 0; i < 2500; i++) expect(interned(`[${i}]`)).toEqual([i])
    expect(interned('[0]')).toEqual([0])
  })
})
