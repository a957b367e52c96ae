import { describe, expect, it } from 'vitest'
import { barText, leftMs } from './progress-bar.ts'

const half = { done: 6, total: 12, counts: '✓5 ✗1  running 2', leftMs: 720_000, about: 'ctrl-c detaches' }

describe('a progress bar', () => {
  it('shows share, counts and estimate in one line', () => {
    expect(barText(half, 120)).toBe('  ▓▓▓▓▓▓▓▓▓░░░░░░░░░  6/12  ✓5 ✗1  running 2  eta 12m   ctrl-c detaches')
  })
  it.each([
    ['leaves out what is only about it where there is no room', half, 70, /eta 12m$/],
    ['takes a terminal without columns for a narrow one', half, 0, /eta 12m {3}ctrl-c detaches$/],
    ['is never as long as the line of the terminal', half, 20, /^.{19}$/],
    [
      'counts only, where nobody knows how many there will be',
      { ...half, total: null, leftMs: null },
      80,
      /^ {2}6 done/,
    ],
    ['is empty when there is nothing to do', { ...half, done: 0, total: 0 }, 80, /^ {2}░{18} {2}0\/0/],
    ['is full and no more when more was done than expected', { ...half, done: 20 }, 80, /^ {2}▓{18} {2}20\/12/],
  ])('%s', (_, progress, columns, expected) => {
    expect(barText(progress, columns)).toMatch(expected)
  })
  it.each([
    [
      'goes by the pace since watching began',
      { first: { done: 4, elapsed: 1000 }, done: 6, total: 12, elapsed: 3000 },
      6000,
    ],
    [
      'says nothing before something has ended',
      { first: { done: 4, elapsed: 1000 }, done: 4, total: 12, elapsed: 3000 },
      null,
    ],
    ['says nothing when all is done', { first: { done: 4, elapsed: 1000 }, done: 12, total: 12, elapsed: 3000 }, null],
  ])('an estimate %s', (_, pace, expected) => {
    expect(leftMs(pace)).toBe(expected)
  })
})
