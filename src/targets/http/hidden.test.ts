/** Which texts of a call are struck out of what is kept of its answer. */
import { expect, it } from 'vitest'
import { hiddenTexts, valuesAt } from './hidden.ts'

it.each([
  [{ card: { number: '4111' } }, ['card.number'], ['4111']],
  [{ card: { number: 4111, more: ['a', { b: 'c' }] } }, ['card'], ['4111', 'a', 'c']],
  [{ items: [{ token: 'x' }, { token: 'y' }, {}] }, ['items.*.token'], ['x', 'y']],
  [{ items: ['p', 'q'] }, ['items.1'], ['q']],
  [{ a: null, b: true }, ['a', 'b', 'c', 'a.b'], []],
  [null, ['a'], []],
  [{}, ['constructor', '__proto__.x'], []],
])('of %j at %j those are %j', (payload, paths, texts) => {
  expect(valuesAt(payload, paths)).toEqual(texts)
})

it('are hidden as JSON writes them too, the longest first, and not when they are short', () => {
  expect(hiddenTexts(['abc', 'long enough', 'with "quotes"', 'long enough'])).toEqual([
    'with \\"quotes\\"',
    'with "quotes"',
    'long enough',
  ])
})
