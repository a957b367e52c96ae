import { describe, expect, it } from 'vitest'
import { invisibleIn } from './printable.ts'

describe('a name', () => {
  it.each([
    ['a\0b', 'U+0000'],
    ['a\nb', 'U+000A'],
    ['a\u007fb', 'U+007F'],
    ['a\u0085b', 'U+0085'],
    ['pay\u00adroll', 'U+00AD'],
    ['a\u034fb', 'U+034F'],
    ['a\u061cb', 'U+061C'],
    ['a\u115fb', 'U+115F'],
    ['a\u180eb', 'U+180E'],
    ['pay\u200broll', 'U+200B'],
    ['pay\u200droll', 'U+200D'],
    ['a\u200fb', 'U+200F'],
    ['a\u2028b', 'U+2028'],
    ['a\u2029b', 'U+2029'],
    ['evil\u202etxt.exe', 'U+202E'],
    ['a\u2060b', 'U+2060'],
    ['a\u2066b', 'U+2066'],
    ['a\u2800b', 'U+2800'],
    ['a\u3164b', 'U+3164'],
    ['a\ufe0fb', 'U+FE0F'],
    ['\ufeffa', 'U+FEFF'],
    ['a\uffa0b', 'U+FFA0'],
    ['a\ufff9b', 'U+FFF9'],
    ['a\uffffb', 'U+FFFF'],
    ['a\ud800b', 'U+D800'],
    ['a\udc00', 'U+DC00'],
    ['a\u{e0041}b', 'U+E0041'],
    ['a\u{e0100}b', 'U+E0100'],
  ])('%j does not show %s', (text, code) => {
    expect(invisibleIn(text)).toBe(code)
  })

  it.each([
    'nightly',
    'a b',
    'Übersicht',
    'שלום',
    'سلام',
    '漢字',
    'नमस्ते',
    '🙂',
    '❤️ jobs',
    '𝄞',
    'a/b:c#d?e&f=%',
    "'; --",
  ])('%s shows as it is', (text) => {
    expect(invisibleIn(text)).toBeNull()
  })
})
