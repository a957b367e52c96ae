/** The clock of the test kit: it stands still until it is moved, and its timers ring where they should. */
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/testing/fake-clock.ts'

describe('a fake clock', () => {
  it('rings timers at their own instants, in order, and in the order they were set for one instant', () => {
    const clock = fakeClock(1000)
    const rung: [string, number][] = []
    for (const [name, ms] of [
      ['b', 20],
      ['a', 10],
      ['c', 20],
      ['late', 50],
    ] as const)
      clock.timers.set(ms, () => rung.push([name, clock.now()]))
    clock.moveBy(30)
    expect(rung).toEqual([
      ['a', 1010],
      ['b', 1020],
      ['c', 1020],
    ])
    expect([clock.now(), clock.elapsed(), clock.nextRingAt()]).toEqual([1030, 30, 1050])
  })

  it('rings what a ringing timer sets, if it comes within the same move', () => {
    const clock = fakeClock(0)
    const rung: number[] = []
    const again = (): void => {
      rung.push(clock.now())
      clock.timers.set(10, again)
    }
    clock.timers.set(10, again)
    clock.moveTo(35)
    expect(rung).toEqual([10, 20, 30])
  })

  it('leaves a timer without delay to the next move, so that the work of this turn comes first', () => {
    const clock = fakeClock(0)
    let rung = 0
    clock.timers.set(5, () => clock.timers.set(0, () => rung++))
    clock.moveTo(5)
    expect([rung, clock.nextRingAt()]).toEqual([0, 5])
    clock.moveTo(5)
    expect(rung).toBe(1)
  })

  it('forgets a cancelled timer and never goes back', () => {
    const clock = fakeClock(100)
    clock.timers.set(5, () => expect.unreachable())()
    clock.moveTo(200)
    expect(() => clock.moveTo(199)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })
})
