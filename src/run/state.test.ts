import { describe, expect, it } from 'vitest'
import { mayMove, RUN_STATES, TRANSITIONS } from './state.ts'

describe('the run state machine', () => {
  it('names every state once, and every arrow leads to a state', () => {
    expect(RUN_STATES).toEqual(['pending', 'running', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed'])
    for (const [from, targets] of Object.entries(TRANSITIONS)) {
      expect(new Set(targets).size).toBe(targets.length)
      for (const to of targets) expect(RUN_STATES).toContain(to)
      expect(targets).not.toContain(from)
    }
  })

  it.each(['succeeded', 'cancelled', 'skipped', 'missed'] as const)('has no way out of %s', (state) => {
    expect(RUN_STATES.filter((to) => mayMove(state, to))).toEqual([])
  })

  it('lets a failed run only go back to pending, by the hand of an operator', () => {
    expect(RUN_STATES.filter((to) => mayMove('failed', to))).toEqual(['pending'])
  })

  it('has one way into running, and it starts at pending', () => {
    expect(RUN_STATES.filter((from) => mayMove(from, 'running'))).toEqual(['pending'])
  })

  it('ends as succeeded or failed only what was running', () => {
    for (const to of ['succeeded', 'failed'] as const)
      expect(RUN_STATES.filter((from) => mayMove(from, to))).toEqual(['running'])
  })

  it('cancels what is pending or running, and nothing that has ended', () => {
    expect(RUN_STATES.filter((from) => mayMove(from, 'cancelled'))).toEqual(['pending', 'running'])
  })
})
