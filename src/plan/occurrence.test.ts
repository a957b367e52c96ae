import { describe, expect, it } from 'vitest'
import { systemClock } from '../time/clock.ts'
import { uuidGenerator } from '../uuid.ts'
import { occurrenceId } from './occurrence.ts'

describe('the id of an occurrence', () => {
  // Computed with Python, from the schedule's id in lower case without hyphens: 48 bits of the instant, 16 bits of the id from
  // its eighth digit on, and 56 bits of its SHA-256.
  it.each([
    ['0190163d-8694-739b-aea5-966c26f8ad90', '2026-11-16T02:30:00.000Z', '01a1e230-a040-8d86-890f-21786f6c0701'],
    ['0190163d-8694-739b-aea5-966c26f8ad90', '2026-11-16T02:30:00.001Z', '01a1e230-a041-8d86-890f-21786f6c0701'],
    ['0190163d-8694-739b-aea5-966c26f8ad90', '1969-12-31T23:59:59.999Z', 'ffffffff-ffff-8d86-890f-21786f6c0701'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '2026-11-16T02:30:00.000Z', '01a1e230-a040-809d-8a5a-1a5c62a5d5b9'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '2026-11-16T02:30:00.001Z', '01a1e230-a041-809d-8a5a-1a5c62a5d5b9'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '1969-12-31T23:59:59.999Z', 'ffffffff-ffff-809d-8a5a-1a5c62a5d5b9'],
    ['00000000-0000-0000-0000-000000000000', '2026-11-16T02:30:00.000Z', '01a1e230-a040-8000-8084-e0c0eafaa95a'],
    ['00000000-0000-0000-0000-000000000000', '2026-11-16T02:30:00.001Z', '01a1e230-a041-8000-8084-e0c0eafaa95a'],
    ['00000000-0000-0000-0000-000000000000', '1969-12-31T23:59:59.999Z', 'ffffffff-ffff-8000-8084-e0c0eafaa95a'],
  ])(
    'is the instant, then a part of the id of the schedule and then its hash, which anybody can compute: %s at %s',
    (scheduleId, instant, id) => {
      expect(occurrenceId(scheduleId, Date.parse(instant))).toBe(id)
    },
  )

  it('does not depend on how the id of the schedule is written', () => {
    const id = '0190163d-8694-739b-aea5-966c26f8ad90'
    expect(occurrenceId(id.toUpperCase(), 0)).toBe(occurrenceId(id, 0))
    expect(occurrenceId(id.replaceAll('-', ''), 0)).toBe(occurrenceId(id, 0))
  })

  it('sorts by its instant', () => {
    const instants = [0, 1, 0xffff, 0x10000, Date.parse('2026-11-16T02:30:00Z'), Date.parse('2099-12-31T23:59:59Z')]
    const ids = instants.map((at, n) => occurrenceId(`0190163d-8694-739b-aea5-966c26f8ad9${n}`, at))
    expect(ids.toSorted()).toEqual(ids)
  })

  it('sorts, at one instant, by when its schedule was made within a quarter of an hour', () => {
    const at = Date.parse('2026-11-16T02:30:00Z')
    const madeAt = Array.from({ length: 50 }, (_, n) => Date.parse('2026-11-01T00:00:00Z') + 16 * n)
    const ids = madeAt.map((ms) => occurrenceId(uuidGenerator({ ...systemClock, now: () => ms })(), at))
    expect(ids.toSorted()).toEqual(ids)
  })

  it('differs for each millisecond and each schedule', () => {
    const ids = ['0190163d-8694-739b-aea5-966c26f8ad90', '0190163d-8694-739b-aea5-966c26f8ad91'].flatMap((schedule) =>
      Array.from({ length: 500 }, (_, ms) => occurrenceId(schedule, ms)),
    )
    expect(new Set(ids).size).toBe(1000)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})
