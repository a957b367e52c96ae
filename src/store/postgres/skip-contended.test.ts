import { expect, it } from 'vitest'
import { createSkipContended } from './skip-contended.ts'

type Claim = readonly [granted: number, wanted: number]
const FULL: Claim = [1000, 1000]
const SHORT: Claim = [999, 1000]
const SMALL: Claim = [999, 999]

const looks = (claims: readonly Claim[]): boolean[] => {
  const skipContended = createSkipContended()
  return claims.map(([granted, wanted]) => {
    const passes = skipContended.next(wanted)
    skipContended.claimed(granted, wanted)
    return passes
  })
}

it.each([
  ['looks closely at first, and passes over while claims come back full', [FULL, FULL, FULL], [false, true, true]],
  ['looks closely after one that came back short', [FULL, SHORT, FULL, FULL], [false, true, false, true]],
  ['looks closely for few', [FULL, SMALL, FULL], [false, false, true]],
  ['looks closely every so often', Array(10).fill(FULL), [false, ...Array(7).fill(true), false, true]],
])('%s', (_, claims, passes) => expect(looks(claims)).toEqual(passes))
