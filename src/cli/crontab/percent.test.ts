import { describe, expect, it } from 'vitest'
import { joinPercent, splitPercent } from './percent.ts'

describe('percent signs in a command', () => {
  it.each([
    ['none', 'date', 'date', null],
    ['a guarded one', 'date +\\%Y-\\%m', 'date +%Y-%m', null],
    ['the first plain one, behind which the input begins', 'mail -s hi%hello', 'mail -s hi', 'hello\n'],
    ['later ones, which end lines', 'cat%a%b%', 'cat', 'a\nb\n'],
    ['a guarded one in the input', 'cat%100\\% sure', 'cat', '100% sure\n'],
    ['one at the end, behind which nothing is', 'cat%', 'cat', null],
    ['two at the end, which are an empty line', 'cat%%', 'cat', '\n'],
    ['a backslash that guards another', 'a\\\\%b', 'a\\\\', 'b\n'],
    ['a backslash before something else', 'grep \\.log', 'grep \\.log', null],
    ['a backslash at the end', 'a\\', 'a\\', null],
    ['backslashes in the input', 'cat%a\\b\\\\%c', 'cat', 'a\\b\\%c\n'],
  ])('are read: %s', (_, text, command, stdin) => {
    expect(splitPercent(text)).toEqual({ command, stdin })
  })

  it.each([
    ['a percent sign behind a backslash', { command: 'a\\%', stdin: null }],
    ['two lines', { command: 'a\nb', stdin: null }],
    ['input without its last line end', { command: 'a', stdin: 'b' }],
    ['input with a backslash at the end of a line', { command: 'a', stdin: 'b\\\nc\n' }],
  ])('cannot say %s', (_, spoken) => {
    expect(joinPercent(spoken)).toBeNull()
  })

  it('say whatever was read from a crontab again', () => {
    const alphabet = ['\\', '%', 'a', ' ']
    for (let i = 0; i < 4 ** 7; i++) {
      const text = Array.from({ length: 7 }, (_, at) => alphabet[Math.floor(i / 4 ** at) % 4]).join('')
      const read = splitPercent(text)
      const again = joinPercent(read)
      if (again === null || JSON.stringify(splitPercent(again)) !== JSON.stringify(read))
        expect([text, again]).toBeNull()
    }
  })
})
