import { describe, expect, it } from 'vitest'
import { createAgenda } from './agenda.ts'

describe('an agenda', () => {
  it('hands out what is due, in order, and of one instant in the order in which it was added', () => {
    const agenda = createAgenda<string>()
    for (const [at, entry] of [
      [5, 'c'],
      [1, 'a'],
      [9, 'z'],
      [5, 'd'],
      [3, 'b'],
    ] as const)
      agenda.add(at, entry)
    expect(agenda.nextAt()).toBe(1)
    expect(agenda.take(5)).toEqual(['a', 'b', 'c', 'd'])
    expect(agenda.take(8)).toEqual([])
    expect(agenda.nextAt()).toBe(9)
    agenda.clear()
    expect(agenda.nextAt()).toBeNull()
  })
})
