import { describe, expect, it } from 'vitest'
import { shownQueues } from './shown-queues.ts'

const queue = (name: string, workspace: string | null = null, configured = false) => ({ name, workspace, configured })
const places = { served: new Set(['served']), all: 10, each: 3 }
const flood = Array.from({ length: 500 }, (_, i) => queue(`a${i}`, 'evil'))
const names = (queues: readonly { readonly name: string }[]): string[] => queues.map(({ name }) => name)

describe('queues that have a place of their own', () => {
  it('are all of them while they are few', () => {
    const few = [queue('x', 'a'), queue('named', null, true), queue('y', 'b')]
    const { shown, hidden } = shownQueues(few, places)
    expect([names(shown).sort(), hidden]).toEqual([['named', 'x', 'y'], []])
  })

  it('are those first that somebody named or serves, however many others there are', () => {
    const { shown } = shownQueues([...flood, queue('named', 'z', true), queue('served', 'z')], places)
    expect(names(shown).slice(0, 2)).toEqual(['named', 'served'])
  })

  it('are so many of each workspace, and the rest is hidden', () => {
    const { shown, hidden } = shownQueues([...flood, queue('theirs', 'victim')], places)
    expect(names(shown)).toEqual(['a0', 'theirs', 'a1', 'a2'])
    expect(hidden).toHaveLength(497)
  })

  it('are no more than there are places', () => {
    const many = Array.from({ length: 50 }, (_, i) => queue(`q${i}`, `w${i}`))
    const { shown, hidden } = shownQueues([...many, queue('named', null, true)], places)
    expect([shown.length, hidden.length, names(shown)[0]]).toEqual([10, 41, 'named'])
  })
})
