import { describe, expect, it } from 'vitest'
import { createScanBackoff } from './scan-backoff.ts'

let elapsed = 0
const clock = { elapsed: () => elapsed }

/** After so many expensive looks in a row. */
function backoffAfter(looks: number, look = { read: 250_000, found: 0 }) {
  const rest = createScanBackoff(clock)
  for (let i = 0; i < looks; i++) rest.looked(look)
  return rest
}

describe('a rest', () => {
  it('begins after five dear looks in a row, since fewer may clear away what they come across', () => {
    expect(backoffAfter(4).leftMs()).toBe(0)
    expect(backoffAfter(5).leftMs()).toBe(1000)
  })

  it('never begins while little was passed over, or little for what was found', () => {
    expect(backoffAfter(100, { read: 2000, found: 0 }).leftMs()).toBe(0)
    expect(backoffAfter(100, { read: 20_000, found: 1000 }).leftMs()).toBe(0)
    expect(backoffAfter(100, { read: 24_000, found: 1000 }).leftMs()).toBeGreaterThan(0)
  })

  it('is over with one look that was not dear', () => {
    const rest = backoffAfter(7)
    rest.looked({ read: 10, found: 5 })
    expect(rest.leftMs()).toBe(0)
    rest.looked({ read: 250_000, found: 0 })
    expect(rest.leftMs()).toBe(0)
  })

  it('lasts the longer the more was passed over, and two seconds at most', () => {
    expect(backoffAfter(5, { read: 10_100, found: 100 }).leftMs()).toBe(40)
    expect(backoffAfter(5, { read: 10_000_000, found: 0 }).leftMs()).toBe(2000)
  })

  it('passes with time, and begins anew with the next dear look', () => {
    const rest = backoffAfter(5)
    elapsed += 999
    expect(rest.leftMs()).toBe(1)
    elapsed += 10
    expect(rest.leftMs()).toBe(0)
    rest.looked({ read: 250_000, found: 0 })
    expect(rest.leftMs()).toBe(1000)
  })
})
