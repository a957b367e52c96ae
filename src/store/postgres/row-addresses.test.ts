import { expect, it } from 'vitest'
import { createRowAddresses } from './row-addresses.ts'

it('answers once where a schedule was last found', () => {
  const addresses = createRowAddresses()
  addresses.note('a', '(1,1)(1,2)')
  addresses.note('a', '(2,1)(2,2)')
  expect([addresses.take('a'), addresses.take('a'), addresses.take('b')]).toEqual(['(2,1)(2,2)', undefined, undefined])
})

it('remembers as many as were found last, and forgets schedules whose plans are never written', () => {
  const addresses = createRowAddresses(3)
  const ids = Array.from('abcdefg')
  for (const id of ids) addresses.note(id, `of ${id}`)
  expect(ids.map(addresses.take)).toEqual([undefined, undefined, undefined, 'of d', 'of e', 'of f', 'of g'])
})
