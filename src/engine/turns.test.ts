import { describe, expect, it } from 'vitest'
import { createTurns } from './turns.ts'

/** Claims of ten, each with what it got; answers which of them were shared. */
function play(got: readonly number[]): boolean[] {
  const turns = createTurns()
  return got.map((count) => {
    const next = turns.next()
    turns.claimed({ queue: 'default', limit: 10, ...next }, { got: count, turn: undefined })
    return next.fair ?? false
  })
}

describe('the turns of a queue', () => {
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
    const turns = createTurns()
    expect(turns.next()).toEqual({})
    turns.claimed({ queue: 'default', limit: 1 }, { got: 1, turn: 'b' })
    turns.claimed({ queue: 'default', limit: 1 }, { got: 1, turn: undefined })
    expect(turns.next()).toEqual({ turn: 'b' })
  })
})
