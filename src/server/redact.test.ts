import { describe, expect, it } from 'vitest'
import { REDACTED, redacted } from './redact.ts'

describe('redacted', () => {
  it.each([
    ['a field', { card: '4111', sum: 2 }, ['card'], { card: REDACTED, sum: 2 }],
    ['a field of a field', { card: { number: 1, till: 2 } }, ['card.number'], { card: { number: REDACTED, till: 2 } }],
    ['a field that is null or false', { a: null, b: false }, ['a', 'b'], { a: REDACTED, b: REDACTED }],
    ['a field of every entry', [{ a: 1 }, { a: 2, b: 3 }], ['*.a'], [{ a: REDACTED }, { a: REDACTED, b: 3 }]],
    ['every field', { a: 1, b: { c: 2 } }, ['*'], { a: REDACTED, b: REDACTED }],
    ['one entry', ['a', 'b'], ['1'], ['a', REDACTED]],
    ['several paths', { a: 1, b: 2, c: 3 }, ['a', 'c'], { a: REDACTED, b: 2, c: REDACTED }],
    ['nothing where there is no such field', { a: 1 }, ['b'], { a: 1 }],
    [
      'a list where an object is expected',
      { card: [{ number: 1 }] },
      ['card.number'],
      { card: [{ number: REDACTED }] },
    ],
    ['a list in place of the payload', [{ card: 1 }], ['card'], [{ card: REDACTED }]],
    ['a list of other things whole', { card: ['4111', { number: 1 }] }, ['card.number'], { card: REDACTED }],
    ['a text where an object is expected', { card: '4111' }, ['card.number'], { card: REDACTED }],
    ['a text in place of the payload', '4111', ['card'], REDACTED],
    ['nothing of null', null, ['card'], null],
    ['a field whose name has the dots of the path', { 'card.number': 1 }, ['card.number'], { 'card.number': REDACTED }],
    ['a field below a name with dots', { 'a.b': { c: 1, d: 2 } }, ['a.b.c'], { 'a.b': { c: REDACTED, d: 2 } }],
    ['names of fields below what is redacted', { a: { secret: 1 } }, ['a'], { a: REDACTED }],
  ])('takes out %s', (_, value, paths, left) => expect(redacted(value, paths)).toEqual(left))
})
