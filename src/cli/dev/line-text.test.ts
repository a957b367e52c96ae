import { describe, expect, it } from 'vitest'
import { coloursFor, type View } from '../print.ts'
import { durationText, lagText, lineText, nextText, qualified, reasonText } from './line-text.ts'

const view: View = { terminal: false, colours: coloursFor(false) }

describe('a line of dev', () => {
  it('has a time, a sign, a name, and what is worth knowing', () => {
    const at = new Date(2027, 0, 4, 9, 5, 7, 42).getTime()
    const text = lineText({ at, sign: 'end', name: 'sync', parts: ['#1', '', '211 ms'] }, view)
    expect(text).toBe('  09:05:07.042 ✓ sync          #1  211 ms\n')
    expect(nextText(at)).toBe('next 09:05:07')
    expect(nextText(null)).toBe('')
  })

  it('never lets data command the terminal', () => {
    const text = lineText({ at: 0, sign: 'log', name: 'a\u001b[2J', parts: ['b\u0007'] }, view)
    expect(text).toContain('a\\u{1b}[2J')
    expect(text).toContain('b\\u{7}')
  })

  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [4520, '4.5 s'],
    [743_000, '12 m 23 s'],
  ])('writes %d ms as %s', (ms, text) => expect(durationText(ms)).toBe(text))

  it('says early as on time, names other workspaces, and shows a reason it does not know', () => {
    expect(lagText(5, 10)).toBe('lag 0 ms')
    expect([qualified('default', 'a'), qualified('acme', 'a')]).toEqual(['a', 'acme/a'])
    expect([reasonText('overlap'), reasonText('new_reason')]).toEqual([
      'the previous run was still active',
      'new_reason',
    ])
  })
})
