import { describe, expect, it } from 'vitest'
import { findAmong } from './find-id.ts'
import { ALERT_RULES, WORKERS } from './kinds.ts'

const worker = (id: string, host: string, alive = true) => ({ id, host, pid: 7, alive })
const FLEET = [worker('mail-web7-1-a', 'web7'), worker('mail-web8-1-b', 'web8'), worker('mail-web8-0-c', 'web8', false)]
const RULES = [
  { id: 'default-failed', name: 'Failed for good' },
  { id: 'default-failed-in-a-row', name: 'Failed in a row' },
]

describe('one of a list', () => {
  it.each([
    ['mail-web7-1-a', 'mail-web7-1-a'],
    ['mail-web7', 'mail-web7-1-a'],
    ['web8', 'mail-web8-1-b'],
  ])('is named by its id, the beginning of it, or its host while it is alive: %s', (text, id) => {
    expect(findAmong(FLEET, WORKERS, text)).toBe(id)
  })

  it('is named by a whole id also where another begins with it', () => {
    expect(findAmong(RULES, ALERT_RULES, 'default-failed')).toBe('default-failed')
    expect(findAmong(RULES, ALERT_RULES, 'Failed in a row')).toBe('default-failed-in-a-row')
  })

  it.each([
    ['mail', 'ID_AMBIGUOUS'],
    ['default', 'NOT_FOUND'],
    ['', 'NOT_FOUND'],
  ])('is refused for %j with %s', (text, code) => {
    expect(() => findAmong(FLEET, WORKERS, text)).toThrow(expect.objectContaining({ code }))
  })
})
