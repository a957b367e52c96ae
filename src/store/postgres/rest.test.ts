import { describe, expect, it } from 'vitest'
import { createRest } from './rest.ts'

let elapsed = 0
const clock = { elapsed: () => elapsed }

/** After so many dear looks in a row. */
function restAfter(looks: number, excessMs = 50) {
  const rest = createRest(clock, 10)
  for (let i = 0; i < looks; i++) rest.looked(excessMs)
  return rest
}

describe('a rest', () => {
  it('begins after five dear looks in a row, since fewer may be the machine', () => {
    expect(restAfter(4).leftMs()).toBe(0)
    expect(restAfter(5).leftMs()).toBe(1000)
  })

  it('never begins while looks are within what is patiently waited for', () => {
    expect(restAfter(100, 10).leftMs()).toBe(0)
  })

  it('is over with one look that was not dear', () => {
    const rest = restAfter(7)
    rest.looked(10)
    expect(rest.leftMs()).toBe(0)
    rest.looked(50)
    expect(rest.leftMs()).toBe(0)
  })

  it('lasts twenty times as long as the look took too long, and two seconds at most', () => {
    expect(restAfter(5, 11).leftMs()).toBe(220)
    expect(restAfter(5, 5000).leftMs()).toBe(2000)
  })

  it('passes with time, and begins anew with the next dear look', () => {
    const rest = restAfter(5)
    elapsed += 999
    expect(rest.leftMs()).toBe(1)
    elapsed += 10
    expect(rest.leftMs()).toBe(0)
    rest.looked(50)
    expect(rest.leftMs()).toBe(1000)
  })
})
