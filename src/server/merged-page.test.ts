/** Two lists as one: nothing is lost or told twice, whatever the pages of each are cut to. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Merged, mergedPage, type Source } from './merged-page.ts'

interface Thing {
  readonly at: number
  readonly name: string
}

const same = (thing: Thing): Thing => thing
const at = (thing: Thing): number => thing.at

/** As a store pages: at most `limit`, from at most `look` rows, with where it ended unless that was the end. */
function read(all: readonly Thing[], from: Thing | null, { limit, look, holds }: Paging): Source<Thing, Thing> {
  const left = all.slice(from === null ? 0 : all.indexOf(from) + 1)
  const looked = left.slice(0, look)
  const fit = looked.filter(holds)
  if (fit.length > limit) return { items: fit.slice(0, limit), next: fit[limit - 1]!, from }
  return { items: fit, next: left.length > looked.length ? looked.at(-1)! : null, from }
}

interface Paging {
  readonly limit: number
  readonly look: number
  readonly holds: (thing: Thing) => boolean
}

function walk(a: readonly Thing[], b: readonly Thing[], paging: Paging): string[] {
  const seen: string[] = []
  let fromA: Thing | null | 'end' = null
  let fromB: Thing | null | 'end' = null
  for (let pages = 0; pages < 1000; pages++) {
    const part = (all: readonly Thing[], from: Thing | null | 'end'): Source<Thing, Thing> =>
      from === 'end' ? { items: [], next: null, from: null } : read(all, from, paging)
    const { items, next }: Merged<Thing, Thing, Thing, Thing> = mergedPage({
      ...{ a: part(a, fromA), b: part(b, fromB), limit: paging.limit },
      ...{ instantOf: { a: at, b: at }, placeOf: { a: same, b: same }, edgeOf: { a: at, b: at } },
    })
    expect(items.length).toBeLessThanOrEqual(paging.limit)
    seen.push(...items.map((item) => ('a' in item ? item.a.name : item.b.name)))
    if (next === null) return seen
    fromA = next.a
    fromB = next.b
  }
  throw new Error('it does not end')
}

describe('a merged page', () => {
  it('tells everything once, newest first, and of one instant the first list first', () => {
    const instants = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 25 })
    const sizes = fc.record({ limit: fc.integer({ min: 1, max: 6 }), look: fc.integer({ min: 1, max: 6 }) })
    fc.assert(
      fc.property(instants, instants, sizes, fc.integer({ min: 1, max: 4 }), (left, right, size, every) => {
        const list = (name: string, of: readonly number[]): Thing[] =>
          of.toSorted((x, y) => y - x).map((instant, i) => ({ at: instant, name: `${name}${i}` }))
        const [a, b] = [list('a', left), list('b', right)]
        const holds = ({ name }: Thing): boolean => Number(name.slice(1)) % every === 0
        const all = [...a, ...b].filter(holds)
        const expected = all.toSorted((x, y) => y.at - x.at || x.name[0]!.localeCompare(y.name[0]!) || 0)
        expect(walk(a, b, { ...size, holds })).toEqual(expected.map(({ name }) => name))
      }),
      { numRuns: 500, seed: 20261118 },
    )
  })
})
