/** The breaker, step by step, at instants that the test chooses. */
import { describe, expect, it } from 'vitest'
import { BACKOFF_MS, type Breaker, CLOSED, type Health, heardAt, OPENS_AFTER, permissionAt } from './breaker.ts'

const heard = (healths: readonly Health[], from: Breaker = CLOSED): Breaker =>
  healths.reduce((breaker, health) => heardAt(breaker, health, 0), from)
const failures = (count: number): Health[] => Array.from({ length: count }, () => 'unwell')
const OPEN: Breaker = { kind: 'open', until: BACKOFF_MS }

describe('a breaker', () => {
  it('lets calls out while there are few failures', () => {
    const breaker = heard(failures(OPENS_AFTER - 1))
    expect(permissionAt(breaker, 0)).toEqual({ kind: 'call', next: breaker })
  })

  it('opens after so many in a row', () => {
    expect(heard(failures(OPENS_AFTER))).toEqual(OPEN)
    expect(permissionAt(OPEN, 4000)).toEqual({ kind: 'rest', forMs: BACKOFF_MS - 4000 })
  })

  it('counts again after one that was well, and does not count what was broken off', () => {
    expect(heard([...failures(OPENS_AFTER - 1), 'well', 'unwell'])).toEqual({ kind: 'closed', failures: 1 })
    expect(heard([...failures(2), 'unknown', 'unwell'])).toEqual({ kind: 'closed', failures: 3 })
  })

  it('lets one call try after its rest, and the others wait for it', () => {
    expect(permissionAt(OPEN, BACKOFF_MS)).toEqual({ kind: 'call', next: { kind: 'trying' } })
    expect(permissionAt({ kind: 'trying' }, BACKOFF_MS)).toEqual({ kind: 'wait' })
  })

  it.each([
    ['well', CLOSED],
    ['unwell', { kind: 'open', until: 50_000 + BACKOFF_MS }],
    ['unknown', { kind: 'open', until: 50_000 }],
  ] as const)('after a try that was %s is as it should be', (health, next) => {
    expect(heardAt({ kind: 'trying' }, health, 50_000)).toEqual(next)
  })

  it('does not rest longer for calls that were out when it opened', () => {
    expect(heardAt(OPEN, 'unwell', 5000)).toEqual(OPEN)
    expect(heardAt(OPEN, 'unknown', 5000)).toEqual(OPEN)
    expect(heardAt(OPEN, 'well', 5000)).toEqual(CLOSED)
  })
})
