/** Ids that sort by time, whatever the clock does. */
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { uuidGenerator } from '../../src/uuid.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('ids', () => {
  it('are UUIDs of version 7 that begin with their millisecond', () => {
    const at = Date.parse('2027-10-30T12:00:00.123Z')
    const id = uuidGenerator(fakeClock(at))()
    expect(id).toMatch(UUID_V7)
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(at)
  })

  it('grow within one millisecond, also when there are more than its counter holds', () => {
    const next = uuidGenerator(fakeClock(1_800_000_000_000))
    const ids = Array.from({ length: 10_000 }, next)
    expect(ids.filter((id) => !UUID_V7.test(id))).toEqual([])
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(10_000)
  })

  it('differ in their random part from those of another generator', () => {
    const clock = fakeClock(1_800_000_000_000)
    const ids = [uuidGenerator(clock), uuidGenerator(clock)].flatMap((next) => Array.from({ length: 600 }, next))
    expect(new Set(ids.map((id) => id.slice(19))).size).toBe(1200)
  })

  it('grow when the clock is set back', () => {
    let now = 1_800_000_000_000
    const next = uuidGenerator({ now: () => now, elapsed: () => 0 })
    const before = next()
    now -= 60_000
    expect(next() > before).toBe(true)
  })
})
