import { expect, it } from 'vitest'
import { systemClock } from './time/clock.ts'
import { uuidGenerator } from './uuid.ts'

const NOW = 0x19a_1234_5678
let now = NOW
const clock = { ...systemClock, now: () => now }
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

it('makes ids of version 7 that begin with the millisecond, each greater than the one before', () => {
  const newId = uuidGenerator(clock)
  const ids = Array.from({ length: 10_000 }, newId)
  expect(ids.filter((id) => !UUID_V7.test(id))).toEqual([])
  expect(ids[0]!.slice(0, 18)).toBe('019a1234-5678-7000')
  // More than fit into a millisecond borrow from those to come.
  expect(ids[4096]!.slice(0, 18)).toBe('019a1234-5679-7000')
  expect(ids).toEqual([...new Set(ids)].sort())
})

it('stays in order when the clock is set back', () => {
  const newId = uuidGenerator(clock)
  const before = newId()
  now = NOW - 60_000
  expect(newId() > before).toBe(true)
  now = NOW
})

it('makes other ids than another generator in the same millisecond', () => {
  const [one, other] = [uuidGenerator(clock), uuidGenerator(clock)].map((newId) => Array.from({ length: 600 }, newId))
  expect(new Set([...one!, ...other!].map((id) => id.slice(19))).size).toBe(1200)
})
