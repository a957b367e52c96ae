import { describe, expect, it } from 'vitest'
import { createErrorThrottle } from './error-throttle.ts'

describe('failures of a loop', () => {
  it('are logged whole at first, then once in ten seconds with the number left out', () => {
    const { failed } = createErrorThrottle()
    const lines = Array.from({ length: 101 }, (_, i) => failed('planner', i * 200)).filter((line) => line !== null)
    expect(lines).toEqual([{ kind: 'first' }, { kind: 'repeated', unlogged: 49 }, { kind: 'repeated', unlogged: 49 }])
  })

  it('are ten seconds apart in the log, also where writing a line takes long', () => {
    const { failed, logged } = createErrorThrottle()
    failed('planner', 0)
    logged('planner', 300)
    expect([failed('planner', 10_299), failed('planner', 10_300)]).toEqual([null, { kind: 'repeated', unlogged: 1 }])
  })

  it('of different loops do not hide each other', () => {
    const { failed } = createErrorThrottle()
    expect([failed('planner', 0), failed('worker', 1), failed('planner', 2)]).toEqual([
      { kind: 'first' },
      { kind: 'first' },
      null,
    ])
  })

  it('are new after a minute without one', () => {
    const { failed } = createErrorThrottle()
    failed('planner', 0)
    expect(failed('planner', 59_999)).toEqual({ kind: 'repeated', unlogged: 0 })
    expect(failed('planner', 119_999)).toEqual({ kind: 'first' })
  })

  it('that come and go log one recovery for each failure that was logged', () => {
    const { failed, recovered } = createErrorThrottle()
    expect(recovered('planner')).toBe(false)
    failed('planner', 0)
    expect([recovered('planner'), recovered('planner')]).toEqual([true, false])
    failed('planner', 100)
    expect(recovered('planner')).toBe(false)
  })
})
