import { describe, expect, it } from 'vitest'
import { readSetting, settingLine } from './setting.ts'

describe('a line that sets a variable', () => {
  it.each([
    ['plain', 'MAILTO=root', 'MAILTO', 'root'],
    ['with blanks around the equal sign', 'PATH \t= /bin:/usr/bin', 'PATH', '/bin:/usr/bin'],
    ['with blanks inside', 'A=b  c', 'A', 'b  c'],
    ['with blanks at its end, which go', 'A=b c \t', 'A', 'b c'],
    ['in double quotes, which keep blanks', 'A=" b "', 'A', ' b '],
    ['in single quotes', "A=' b'  ", 'A', ' b'],
    ['with quotes of the other kind inside', `A="it's"`, 'A', "it's"],
    ['with a quoted name', '"A"=1', 'A', '1'],
    ['empty', 'MAILTO=', 'MAILTO', ''],
    ['empty in quotes', 'MAILTO=""', 'MAILTO', ''],
    ['with a comment that is none', 'A=1 # one', 'A', '1 # one'],
    ['with a dollar, which stays', 'A=$HOME/x', 'A', '$HOME/x'],
    ['with a backslash, which stays', 'A=a\\ b', 'A', 'a\\ b'],
    ['with an equal sign', 'A=b=c', 'A', 'b=c'],
  ])('is read %s', (_, line, name, value) => {
    expect(readSetting(line)).toEqual({ name, value })
  })

  it.each([
    ['an entry', '0 5 * * * A=1 job'],
    ['an entry by macro', '@daily A=1 job'],
    ['an entry by names', '* * * jan mon a=b'],
    ['a quote without its end', 'A="b'],
    ['something behind a quoted value', 'A="b" c'],
    ['a name of two words', 'A B=c'],
    ['no name', '=c'],
    ['nothing', ''],
  ])('is not %s', (_, line) => {
    expect(readSetting(line)).toBeNull()
  })

  it.each(['root', ' spaced ', '', "it's", '"quoted"', '# no', 'a=b', ` both " and' `, 'a\nb'])(
    'that is written for %j is read the same, or there is none',
    (value) => {
      const line = settingLine({ name: 'A', value })
      expect(line === null ? null : readSetting(line)).toEqual(line === null ? null : { name: 'A', value })
      expect(line === null).toBe(/\n/.test(value) || value === ` both " and' `)
    },
  )
})
