import { describe, expect, it } from 'vitest'
import { createFairShare } from './fair-share.ts'

/** Claims of ten, each with what it got; answers which of them were shared. */
function play(got: readonly number[]): boolean[] {
  const fairShare = createFairShare()
  return got.map((count) => {
    const next = fairShare.next()
    fairShare.claimed({ queue: 'default', limit: 10, ...next }, { got: count, lastWorkspace: undefined })
    return next.fair ?? false
  })
}

describe('the fairShare of a queue', () => {
  it('come with every fourth claim while claims come back full', () => {
    expect(play([10, 10, 10, 10, 10, 10, 10, 10])).toEqual([false, false, false, true, false, false, false, true])
  })

  it('are not asked for while a claim takes all there is', () => {
    expect(play([3, 10, 10, 4, 10, 10, 9]).includes(true)).toBe(false)
  })

  it('go on although the shares left slots free', () => {
    expect(play([10, 10, 10, 2, 10, 10, 10, 10])[7]).toBe(true)
  })

  it('begin after the workspace that was last', () => {
    const fairShare = createFairShare()
    expect(fairShare.next()).toEqual({})
    fairShare.claimed({ queue: 'default', limit: 1 }, { got: 1, lastWorkspace: 'b' })
    fairShare.claimed({ queue: 'default', limit: 1 }, { got: 1, lastWorkspace: undefined })
    expect(fairShare.next()).toEqual({ lastWorkspace: 'b' })
  })
})
