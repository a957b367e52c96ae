/** The floors of claims: when they are raised, how far, and that nobody stays below them for long. */
import { describe, expect, it } from 'vitest'
import type { Run } from '../../run/run.ts'
import { BEGINNING, createScanStarts } from './scan-start.ts'

const NOW = 1_000_000
let elapsed = 0
const clock = { elapsed: () => elapsed }
const run = (priority: number, dueAt: number, queue = 'q'): Run => ({ queue, priority, dueAt }) as Run
const look = (about: { read: number; now?: number; limit?: number; runs?: readonly Run[] }) => ({
  wanted: [{ queue: 'q', limit: about.limit ?? 10 }],
  runs: about.runs ?? [],
  now: about.now ?? NOW,
  read: about.read,
})

/** One more expensive look, and the floors rise. */
function weary() {
  const scanStarts = createScanStarts(clock)
  for (let i = 0; i < 4; i++) scanStarts.claimed(look({ read: 40_000 }))
  return scanStarts
}

describe('floors', () => {
  it('are at the beginning after a few dear looks, which may clear away what they come across', () => {
    const scanStarts = weary()
    expect(scanStarts.of('q')).toBe(BEGINNING)
    scanStarts.claimed(look({ read: 10 }))
    scanStarts.of('q')
    scanStarts.claimed(look({ read: 40_000 }))
    expect(scanStarts.of('q')).toBe(BEGINNING)
  })

  it('are at the beginning while looking from there costs little', () => {
    const scanStarts = createScanStarts(clock)
    for (let i = 0; i < 5; i++) scanStarts.claimed(look({ read: 1900, runs: [run(5, NOW - 10)] }))
    expect(scanStarts.of('q')).toBe(BEGINNING)
  })

  it('do not take for a dear look what others hold who claim as much', () => {
    const scanStarts = createScanStarts(clock)
    const runs = Array.from({ length: 1000 }, () => run(5, NOW - 10))
    for (let i = 0; i < 5; i++) scanStarts.claimed(look({ read: 10_000, limit: 1000, runs }))
    expect(scanStarts.of('q')).toBe(BEGINNING)
  })

  it('rise to the last grant of its priority, to the present above it, and not below it', () => {
    const scanStarts = weary()
    scanStarts.claimed(look({ read: 40_000, limit: 3, runs: [run(7, NOW - 50), run(5, NOW - 900), run(5, NOW - 800)] }))
    const above = NOW - 100
    expect(scanStarts.of('q')).toEqual([null, null, null, null, null, NOW - 900, above, above, above, above])
  })

  it('rise to the present everywhere when all that was due was granted', () => {
    const scanStarts = weary()
    scanStarts.claimed(look({ read: 40_000, runs: [run(5, NOW - 900)] }))
    expect(scanStarts.of('q')).toEqual(BEGINNING.map(() => NOW - 100))
  })

  it('go on rising with the looks that begin there, and leave other queues alone', () => {
    const scanStarts = weary()
    scanStarts.claimed(look({ read: 40_000, limit: 1, runs: [run(5, NOW - 900)] }))
    scanStarts.of('q')
    scanStarts.claimed(look({ read: 10, now: NOW + 10, limit: 1, runs: [run(5, NOW - 700)] }))
    expect(scanStarts.of('q')[5]).toBe(NOW - 800)
    expect(scanStarts.of('other')).toBe(BEGINNING)
  })

  it('are gone after twenty times what the dear look cost, and after two seconds at the latest', () => {
    for (const [read, backoffMs] of [
      [250_000, 1000],
      [50_000_000, 2000],
    ] as const) {
      const scanStarts = weary()
      scanStarts.of('q')
      scanStarts.claimed(look({ read }))
      elapsed += backoffMs - 1
      expect(scanStarts.of('q')).not.toBe(BEGINNING)
      expect(scanStarts.claimed(look({ read: 10, now: NOW + backoffMs - 1 }))).toBe(1)
      elapsed += 1
      expect(scanStarts.of('q')).toBe(BEGINNING)
    }
  })

  it('ask for another look at once when the one with floors came back after their end', () => {
    const scanStarts = weary()
    scanStarts.claimed(look({ read: 50_000_000 }))
    scanStarts.of('q')
    elapsed += 3000
    expect(scanStarts.claimed(look({ read: 10 }))).toBe(0)
  })
})
