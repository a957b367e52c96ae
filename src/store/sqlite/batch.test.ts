import { describe, expect, it } from 'vitest'
import { pairsText, stretchesOf, wavesOf } from './batch.ts'
import { openDatabase } from './driver.ts'

describe('pairs as one text', () => {
  it('come out of SQLite as they went in, in the same order, whatever is in them', async () => {
    const database = await openDatabase(':memory:')
    const pairs = [
      ['b"\\ü', 'text with "quotes" and 日本'],
      ['10', '{"a":[1,null]}'],
      ['9', 'null'],
      ['a', null],
      ['c', 9_007_199_254_740_991],
      ['10', -1],
    ] as const
    const rows = database.prepare('select key, value from json_each(?)').all(pairsText(pairs))
    expect(rows).toEqual(pairs.map(([key, value]) => ({ key, value })))
    expect(database.prepare('select * from json_each(?)').all(pairsText([]))).toEqual([])
    const numbered = 'select cast(key as integer) as number from json_each(?)'
    expect(database.prepare(numbered).all(pairsText([[7, null]]))).toEqual([{ number: 7 }])
    database.close()
  })
})

describe('stretches', () => {
  const short = (): number => 0

  it('hold neighbours that are alike, in order', () => {
    const uniform = (a: string, b: string): boolean => a[0] === b[0]
    const found = [...stretchesOf(['a1', 'a2', 'b1', 'a3'], { uniform, lengthOf: short })]
    expect(found).toEqual([['a1', 'a2'], ['b1'], ['a3']])
    expect([...stretchesOf([], { lengthOf: short })]).toEqual([])
  })

  it('end where their text or their number would be too large, and never hold nothing', () => {
    const lengths = (items: readonly number[]): number[] =>
      [...stretchesOf(items, { lengthOf: (item) => item })].map((stretch) => stretch.length)
    expect(lengths([600_000, 600_000, 100_000, 2_000_000, 1])).toEqual([1, 2, 1, 1])
    expect(lengths(Array.from({ length: 700 }, () => 1))).toEqual([300, 300, 100])
  })
})

describe('waves', () => {
  it('name nothing twice, and keep the order', () => {
    expect([...wavesOf(['ab', 'c', 'bd', 'a', 'a'], (item) => [...item])]).toEqual([['ab', 'c'], ['bd', 'a'], ['a']])
    expect([...wavesOf([], () => [])]).toEqual([])
  })
})
