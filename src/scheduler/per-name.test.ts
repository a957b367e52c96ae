import { describe, expect, it } from 'vitest'
import { capped, MOST_NAMES, OTHER, perName } from './per-name.ts'

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `job-${String(i).padStart(4, '0')}`)

describe('what is kept by name', () => {
  it('is kept apart for two hundred names, and together for all others', () => {
    const counts = perName(() => ({ count: 0 }))
    for (const name of names(MOST_NAMES + 50)) counts.of(name).count++
    const kept = [...counts.entries()]
    expect(kept).toHaveLength(MOST_NAMES + 1)
    expect(kept.at(-1)).toEqual([OTHER, { count: 50 }])
  })

  it('stays with a name that was among the first', () => {
    const counts = perName(() => ({ count: 0 }), 1)
    for (const name of ['a', 'b', 'a', 'c']) counts.of(name).count++
    expect([...counts.entries()]).toEqual([
      ['a', { count: 2 }],
      [OTHER, { count: 2 }],
    ])
  })
})

describe('a list of values by name', () => {
  it('is left alone up to two hundred', () => {
    const values = names(MOST_NAMES).map((name) => [name, 1] as const)
    expect(capped(values, Math.max)).toEqual(values)
  })

  it('has one value for all that is beyond', () => {
    const values = names(MOST_NAMES + 3).map((name, i) => [name, i] as const)
    expect(capped(values, (a, b) => a + b)).toEqual([...values.slice(0, MOST_NAMES), [OTHER, 200 + 201 + 202]])
  })
})
