import { describe, expect, it } from 'vitest'
import { parseCron } from './cron.ts'
import { interning } from './interning.ts'

describe('interning', () => {
  it('keeps a value from the second time it is offered', () => {
    const kept = interning<object>(10)
    kept.offer('a', { first: true })
    expect(kept.get('a')).toBeUndefined()
    const second = {}
    kept.offer('a', second)
    expect(kept.get('a')).toBe(second)
  })

  it('forgets what was not asked for during two generations, and keeps what was', () => {
    const kept = interning<string>(3)
    for (const key of ['a', 'a', 'b', 'b']) kept.offer(key, key)
    for (let i = 0; i < 6; i++) {
      kept.offer(`other ${i}`, 'x')
      expect(kept.get('a')).toBe('a')
    }
    expect(kept.get('b')).toBeUndefined()
  })

  it('makes schedules with the same expression and zone share one compiled object', () => {
    const made = Array.from({ length: 4 }, () => parseCron('17 3 * * *', { timezone: 'Asia/Tokyo' }))
    expect(made[3]).toBe(made[2])
    expect(parseCron('17 3 * * *', { timezone: 'Asia/Seoul' })).not.toBe(made[3])
  })
})
