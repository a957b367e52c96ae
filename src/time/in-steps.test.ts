/** Work in steps shares the event loop: one slice in a turn, however many works there are. */
import { describe, expect, it } from 'vitest'
import { inSteps } from './in-steps.ts'
import type { Steps } from './steps.ts'

/** A clock that moves by this with each step. */
function clockOf(stepMs: number) {
  let now = 0
  return { elapsed: () => now, step: () => void (now += stepMs) }
}

describe('work in steps', () => {
  it('that is short is done at once', async () => {
    const clock = clockOf(0.1)
    let isDone = false
    function* work(): Steps<string> {
      for (let i = 0; i < 5; i++) yield clock.step()
      isDone = true
      return 'done'
    }
    const result = inSteps(work(), clock)
    expect(isDone).toBe(true)
    expect(await result).toBe('done')
  })

  it('has one slice in a turn of the loop, with that of ten others', async () => {
    const clock = clockOf(1)
    let turn = 0
    let isOver = false
    const count = (): void => {
      turn++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const stepsIn = new Map<number, number>()
    function* work(): Steps<number> {
      for (let i = 0; i < 40; i++) {
        if (turn > 0) stepsIn.set(turn, (stepsIn.get(turn) ?? 0) + 1)
        clock.step()
        yield
      }
      return turn
    }
    const ends = await Promise.all(Array.from({ length: 10 }, () => inSteps(work(), clock)))
    isOver = true
    expect(Math.max(...stepsIn.values())).toBeLessThanOrEqual(10)
    expect(stepsIn.size).toBeGreaterThan(30)
    // In turn: none of them has to wait for the whole of another.
    expect(Math.max(...ends) - Math.min(...ends)).toBeLessThanOrEqual(20)
  })
})
