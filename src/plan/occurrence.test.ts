import { describe, expect, it } from 'vitest'
import { occurrenceId } from './occurrence.ts'

describe('the id of an occurrence', () => {
  // Computed with the uuid module of Python: UUIDv5 of the ISO text in the namespace of the schedule's id.
  it.each([
    ['0190163d-8694-739b-aea5-966c26f8ad90', '2026-11-16T02:30:00.000Z', '4303eae4-d28b-5a71-b4a4-8fe211738c0a'],
    ['0190163d-8694-739b-aea5-966c26f8ad90', '2026-11-16T02:30:00.001Z', '7fac872c-b5b5-5e21-a363-c91d17125c34'],
    ['0190163d-8694-739b-aea5-966c26f8ad90', '1969-12-31T23:59:59.999Z', '7ab840a4-8a79-58e7-b562-fc48119e9d10'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '2026-11-16T02:30:00.000Z', '1921f55e-58b4-53cc-976c-cd8200eb0344'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '2026-11-16T02:30:00.001Z', '0c75c63e-0006-5441-8b56-246f8e856bd1'],
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '1969-12-31T23:59:59.999Z', '9337da2b-2c79-5f2c-b765-431e596e2b95'],
    ['00000000-0000-0000-0000-000000000000', '2026-11-16T02:30:00.000Z', 'dc4dcb62-98c2-52fb-8984-0c8d1ffc5e55'],
    ['00000000-0000-0000-0000-000000000000', '2026-11-16T02:30:00.001Z', '3b4bdfd5-fb63-5e32-b139-f0777bf7c786'],
    ['00000000-0000-0000-0000-000000000000', '1969-12-31T23:59:59.999Z', '8e510050-f3e8-51f9-80f7-5ad53d07ed90'],
  ])('is the UUIDv5 that any other library computes: %s at %s', (scheduleId, instant, id) => {
    expect(occurrenceId(scheduleId, Date.parse(instant))).toBe(id)
  })

  it('does not depend on how the id of the schedule is written', () => {
    const id = '0190163d-8694-739b-aea5-966c26f8ad90'
    expect(occurrenceId(id.toUpperCase(), 0)).toBe(occurrenceId(id, 0))
    expect(occurrenceId(id.replaceAll('-', ''), 0)).toBe(occurrenceId(id, 0))
  })

  it('differs for each millisecond and each schedule', () => {
    const ids = ['0190163d-8694-739b-aea5-966c26f8ad90', '0190163d-8694-739b-aea5-966c26f8ad91'].flatMap((schedule) =>
      Array.from({ length: 500 }, (_, ms) => occurrenceId(schedule, ms)),
    )
    expect(new Set(ids).size).toBe(1000)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})
