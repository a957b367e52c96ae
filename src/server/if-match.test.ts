import { expect, it } from 'vitest'
import { matches, wantedTags } from './if-match.ts'

const asked = (header: string | null) =>
  wantedTags(new Request('http://localhost', { headers: header === null ? {} : { 'if-match': header } }))

it.each<[header: string | null, tag: string | null, boolean]>([
  [null, '3', true],
  [null, null, true],
  ['*', '3', true],
  ['*', null, false],
  ['"3"', '3', true],
  ['"3"', null, false],
  ['"2"', '3', false],
  ['W/"3"', '3', true],
  ['"1", "3"', '3', true],
  ['"1",W/"2"', '3', false],
  ['3', '3', false],
  ['', '3', false],
  ['"3', '3', false],
  ['"3" x', '3', false],
  ['"03"', '3', false],
  ['"3", *', '3', false],
])('If-Match %s of what has the tag %s: %s', (header, tag, result) => {
  expect(matches(asked(header), tag)).toBe(result)
})
