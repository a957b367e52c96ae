/** What an overview makes of counts and rows; that it answers at all, to whom and with what, is held by the tests of the interface. */
import { describe, expect, it } from 'vitest'
import { LATENESS_BOUNDS } from '../../store/contract/stats.ts'
import { onTimeOf, unserved } from './overview.ts'

const counts = (byBound: Readonly<Record<number, number>>, beyond = 0): number[] => [
  ...LATENESS_BOUNDS.map((bound) => byBound[bound] ?? 0),
  beyond,
]

describe('the share that was on time', () => {
  it.each([
    ['nothing started', counts({}), null],
    ['nothing was ever counted', [], null],
    ['all began at once', counts({ 5: 3 }), 1],
    ['a second late is on time still', counts({ 1000: 1, 2500: 1 }), 0.5],
    ['what is later than any bound counts as late', counts({ 5: 3 }, 1), 0.75],
  ])('when %s', (_, lateness, share) => {
    expect(onTimeOf(lateness)).toBe(share)
  })
})

describe('queues that nobody serves', () => {
  const queue = (name: string, more = {}) => ({ name, ready: 1, pause: null, ...more })
  const worker = (name: string, more = {}) => ({
    roles: ['worker'] as const,
    queues: { [name]: 5 },
    draining: false,
    ...more,
  })

  it('are those in which something waits', () => {
    expect(unserved([queue('a'), queue('b', { ready: 0 }), queue('c')], [worker('c')])).toEqual(['a'])
  })

  it('are not those that were paused: nothing is to start there', () => {
    expect(unserved([queue('a', { pause: { reason: '', by: 'ana', at: 0 } })], [])).toEqual([])
  })

  it('are not served by who drains, nor by who only plans', () => {
    const others = [worker('a', { draining: true }), worker('a', { roles: ['scheduler'] })]
    expect(unserved([queue('a')], others)).toEqual(['a'])
  })
})
