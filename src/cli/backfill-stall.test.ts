import { describe, expect, it } from 'vitest'
import { stallText } from './backfill-stall.ts'

const process = (roles: string[], { alive = true, draining = false } = {}) => ({ roles, alive, draining })

describe('why a backfill stays at 0 %', () => {
  it.each([
    ['no process at all', [], 0, /no process plans/],
    ['only workers', [process(['worker'])], 0, /no process plans/],
    ['a planner that is gone', [process(['scheduler', 'worker'], { alive: false })], 0, /no process plans/],
    ['only planners', [process(['scheduler'])], 0, /no process executes runs/],
    [
      'a worker that drains',
      [process(['scheduler']), process(['worker'], { draining: true })],
      0,
      /no process executes/,
    ],
    ['runs that were planned, and no worker', [], 1, /no process executes runs/],
  ])('with %s', (_, processes, running, text) => {
    expect(stallText(processes, running)).toMatch(text)
  })

  it('is not explained by processes while they are there', () => {
    expect(stallText([process(['scheduler']), process(['worker'])], 0)).toBeNull()
    expect(stallText([process(['scheduler', 'worker'])], 0)).toBeNull()
  })
})
