import { describe, expect, it } from 'vitest'
import { readScheduleName, schedulePath, scheduleText } from './schedule-name.ts'

describe('the name of a schedule', () => {
  it.each([
    ['a key alone', 'nightly', { workspace: 'default', key: 'nightly' }, 'nightly'],
    ['a workspace and a key', 't_42/digest', { workspace: 't_42', key: 'digest' }, 't_42/digest'],
    ['a key at a workspace', 'digest@t_42', { workspace: 't_42', key: 'digest' }, 't_42/digest'],
    ['a key with a slash, behind its workspace', 'default/a/b', { workspace: 'default', key: 'a/b' }, 'default/a/b'],
    ['a key with an @, behind its workspace', 'default/a@b', { workspace: 'default', key: 'a@b' }, 'default/a@b'],
  ])('may be %s', (_, text, name, again) => {
    expect(readScheduleName(text)).toEqual(name)
    expect(scheduleText(name)).toBe(again)
  })
  it.each(['', '/', 'a/', '/a', '@a', 'a@'])('is not %j', (text) => {
    expect(() => readScheduleName(text)).toThrow(/is not a schedule name/)
  })
  it('is found whatever is in it', () => {
    expect(schedulePath({ workspace: 'a b', key: 'x/y?z#' })).toBe('/schedules/by-key/a%20b/x%2Fy%3Fz%23')
  })
})
