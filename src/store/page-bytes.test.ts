import { describe, expect, it } from 'vitest'
import { countWithin } from './page-bytes.ts'

describe('countWithin', () => {
  it.each([
    ['nothing of nothing', [], 0],
    ['all that fit', [4, 3, 3], 3],
    ['those before the first that does not fit', [4, 3, 4, 1], 2],
    ['one that is too large alone', [11], 1],
    ['one before another that is too large', [1, 11], 1],
    ['the first, however large', [100, 1, 1], 1],
  ])('counts %s', (_, sizes, count) => expect(countWithin(sizes, 10)).toBe(count))
})
