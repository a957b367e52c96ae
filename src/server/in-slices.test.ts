import { setImmediate as reportPresence } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { mapInSlices, stringifyInSlices } from './in-slices.ts'

describe('stringifyInSlices', () => {
  it.each([
    ['nothing', undefined],
    ['a text', 'x'],
    ['a list', [1, 2]],
    ['an object', { a: new Date(0), b: undefined }],
    ['an empty page', { data: [], page: { next: null } }],
    [
      'a page',
      { warnings: [1], data: [{ at: new Date(0), b: undefined }, null, undefined, 'x'], page: { next: 'a"b' } },
    ],
    ['a field that is no list', { data: { a: 1 } }],
    ['a field that is left out', { data: [1], page: undefined }],
  ])('writes %s as JSON.stringify does', async (_, body) =>
    expect(await stringifyInSlices(body)).toBe(JSON.stringify(body)),
  )
})

describe('mapInSlices', () => {
  it('lets others have their turn between items that take long', async () => {
    const order: string[] = []
    const spin = (name: string): string => {
      for (const until = performance.now() + 6; performance.now() < until; );
      order.push(name)
      return name
    }
    const other = (async () => {
      for (let i = 0; i < 2; i++) {
        await reportPresence()
        order.push('other')
      }
    })()
    expect(await mapInSlices(['a', 'b', 'c'], spin)).toEqual(['a', 'b', 'c'])
    await other
    expect(order).toEqual(['a', 'other', 'b', 'other', 'c'])
  })
})
