import { describe, expect, it } from 'vitest'
import { ratioOf } from './coverage.ts'

describe('coverage', () => {
  it.each([
    ['nothing was looked at', [], null],
    ['nothing was expected', [{ expected: 0, accounted: 0 }], null],
    [
      'all is accounted for',
      [
        { expected: 4, accounted: 4 },
        { expected: 0, accounted: 0 },
      ],
      1,
    ],
    [
      'one of many is not',
      [
        { expected: 9, accounted: 9 },
        { expected: 1, accounted: 0 },
      ],
      0.9,
    ],
  ])('when %s', (_, samples, ratio) => {
    expect(ratioOf(samples)).toBe(ratio)
  })
})
