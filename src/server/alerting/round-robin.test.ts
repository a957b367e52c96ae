import { describe, expect, it } from 'vitest'
import { roundRobin } from './round-robin.ts'

const ownerOf = (item: string): string => item[0]!

describe('things of several owners', () => {
  it.each<[string[], string[]]>([
    [[], []],
    [['a1'], ['a1']],
    [
      ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'],
      ['a1', 'b1', 'c1', 'a2', 'c2', 'a3'],
    ],
    [
      ['b1', 'a1', 'a2', 'b2'],
      ['b1', 'a1', 'b2', 'a2'],
    ],
  ])('%j come in turns as %j', (items, ordered) => {
    expect(roundRobin(items, ownerOf)).toEqual(ordered)
  })

  it('keeps the second owner second, however much the first one has', () => {
    const items = [...Array.from({ length: 10_000 }, (_, i) => `a${i}`), 'b0']
    expect(roundRobin(items, ownerOf)[1]).toBe('b0')
  })
})
