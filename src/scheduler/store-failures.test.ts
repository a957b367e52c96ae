import { describe, expect, it } from 'vitest'
import { type ErrorCode, EverytickError } from '../errors.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { createStoreFailures } from './store-failures.ts'

function noting() {
  const clock = fakeClock(0)
  const { note, isFailing } = createStoreFailures(clock)
  const failed = (where: string, error: unknown, retryInMs = 50): void =>
    note({ kind: 'engine.error', where, error, retryInMs })
  const recovered = (where: string): void => note({ kind: 'engine.recovered', where })
  return { clock, failed, recovered, isFailing }
}

const because = (code: ErrorCode): EverytickError => new EverytickError(code, 'no')

describe('the failures of a store', () => {
  it.each<[string, unknown, boolean]>([
    ['a full disk', because('STORE_FULL'), true],
    ['a lock or a network', because('STORE_UNREACHABLE'), true],
    ['a right', because('STORE_DENIED'), true],
    ['a statement', because('STORE_UNUSABLE'), false],
    ['an error of ours', because('LEASE_LOST'), false],
    ['anything else', new Error('the heartbeat was not heard'), false],
  ])('count when a loop fails for %s: %#', (_, error, expected) => {
    const { failed, isFailing } = noting()
    expect(isFailing()).toBe(false)
    failed('beat', error)
    expect(isFailing()).toBe(expected)
  })

  it('last until each loop that failed has succeeded', () => {
    const { failed, recovered, isFailing } = noting()
    failed('beat', because('STORE_FULL'))
    failed('planner', because('STORE_FULL'))
    recovered('beat')
    expect(isFailing()).toBe(true)
    recovered('planner')
    expect(isFailing()).toBe(false)
  })

  it('are over half a minute after the last one, when nothing is left to try again', () => {
    const { clock, failed, isFailing } = noting()
    failed('hand-over', because('STORE_UNREACHABLE'))
    clock.moveBy(20_000)
    failed('hand-over', because('STORE_UNREACHABLE'))
    clock.moveBy(29_999)
    expect(isFailing()).toBe(true)
    clock.moveBy(1)
    expect(isFailing()).toBe(false)
  })

  it('are not those of one request, which nothing tries again', () => {
    const { failed, isFailing } = noting()
    failed('api', because('STORE_UNREACHABLE'), 0)
    expect(isFailing()).toBe(false)
  })
})
