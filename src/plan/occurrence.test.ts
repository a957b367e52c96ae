import { describe, expect, it } from 'vitest'
import { occurrenceId } from './occurrence.ts'

describe('the id of an occurrence', () => {
  // Computed with Python: 48 bits of the instant, and 72 bits of SHA-256 of the schedule's id in lower case without hyphens.
  it.each([
    ['0190163d-8694-739b-aea5-966c26f8ad90', '2026-11-16T02:30:00.000Z', '01a1e230-a040-80f2-8178-6f6c0701f671'],
    ['0190163d-8694-739b-aea5-966c26f8ad90', '2026-11-16T02:30:00.001Z', '01a1e230-a041-80f2-8178-6f6c0701f671'],
    ['0190163d-8694-739b-aea5-966c26f8ad90', '1969-12-31T23:59:59.999Z', 'ffffffff-ffff-80f2-8178-6f6c0701f671'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '2026-11-16T02:30:00.000Z', '01a1e230-a040-85a1-8a5c-62a5d5b93bcc'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '2026-11-16T02:30:00.001Z', '01a1e230-a041-85a1-8a5c-62a5d5b93bcc'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '1969-12-31T23:59:59.999Z', 'ffffffff-ffff-85a1-8a5c-62a5d5b93bcc'],
    ['00000000-0000-0000-0000-000000000000', '2026-11-16T02:30:00.000Z', '01a1e230-a040-884e-80c0-eafaa95a34c2'],
    ['00000000-0000-0000-0000-000000000000', '2026-11-16T02:30:00.001Z', '01a1e230-a041-884e-80c0-eafaa95a34c2'],
    ['00000000-0000-0000-0000-000000000000', '1969-12-31T23:59:59.999Z', 'ffffffff-ffff-884e-80c0-eafaa95a34c2'],
  ])(
    'is the instant and then the hash of the schedule, which anybody can compute: %s at %s',
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

  it('differs for each millisecond and each schedule', () => {
    const ids = ['0190163d-8694-739b-aea5-966c26f8ad90', '0190163d-8694-739b-aea5-966c26f8ad91'].flatMap((schedule) =>
      Array.from({ length: 500 }, (_, ms) => occurrenceId(schedule, ms)),
    )
    expect(new Set(ids).size).toBe(1000)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})
