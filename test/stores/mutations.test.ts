/** The short form of scripts/mutations.mjs: every listed mutant can still be made, and some promise names it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { root } from '../built-package.ts'

interface Mutant {
  readonly name: string
  readonly list: string
  readonly kills: string
}

interface Anchored {
  readonly in: string
  readonly find: string
}

interface Place {
  readonly start: number
  readonly end: number
}

const conformance = join(root, 'src', 'testing', 'conformance')
const promises = readdirSync(conformance).map((name) => readFileSync(join(conformance, name), 'utf8'))

const { LISTS, readMutants, sampleOf, whyNotMade } = await moduleOf<{
  LISTS: readonly string[]
  readMutants(): Promise<readonly Mutant[]>
  sampleOf(mutants: readonly Mutant[], count: number, seed: string): readonly Mutant[]
  whyNotMade(mutant: Mutant): string | null
}>('list.mjs')
const { placesOf, withEdits } = await moduleOf<{
  placesOf(text: string, edit: Anchored): readonly Place[]
  withEdits(text: string, edits: readonly (Anchored & { readonly replace: string })[]): string
}>('anchor.mjs')
const mutants = await readMutants()

function moduleOf<T>(name: string): Promise<T> {
  return import(pathToFileURL(join(root, 'scripts', 'mutations', name)).href) as Promise<T>
}

describe.each(LISTS)('the mutants of the list %s', (list) => {
  const listed = mutants.filter((mutant) => mutant.list === list)

  it('are at least twelve', () => {
    expect(listed.length).toBeGreaterThanOrEqual(12)
  })

  it.each(listed)('can still be made: $name', (mutant) => {
    expect(whyNotMade(mutant)).toBeNull()
  })

  // Mutants of pure code are caught by the tests beside it, which name none.
  if (list !== 'pure')
    it('are each named by a promise of the suite', () => {
      const isNamed = ({ kills }: Mutant): boolean => promises.some((text) => text.includes(`'${kills}'`))
      expect(listed.filter((mutant) => !isNamed(mutant))).toEqual([])
    })
})

describe('an anchor', () => {
  const text =
    'const FIRST = `update runs set fence = ?`\nexport function second(a: number) {\n  return last(a, FIRST)\n}\n'

  it('finds the same place however the code is formatted', () => {
    const wrapped = text.replace('last(a, FIRST)', 'last(\n    a,\n    FIRST,\n  )')
    const edit = { in: 'second', find: 'return last(a, FIRST)' }
    expect(placesOf(text, edit)).toHaveLength(1)
    expect(placesOf(wrapped, edit)).toHaveLength(1)
    expect(withEdits(wrapped, [{ ...edit, replace: 'return a' }])).toContain('{\n  return a\n}')
    expect(placesOf(text.replace('set fence', 'set\n  fence'), { in: 'FIRST', find: 'set fence = ?' })).toHaveLength(1)
  })

  it('is looked for in its declaration only, and tells words apart', () => {
    expect(placesOf(text, { in: 'FIRST', find: 'return last' })).toEqual([])
    expect(placesOf(text, { in: 'second', find: 'returnlast' })).toEqual([])
    expect(placesOf(text, { in: 'third', find: 'return last' })).toEqual([])
  })

  it('that is found twice makes no mutant', () => {
    const edit = { in: 'second', find: 'a', replace: 'b' }
    expect(() => withEdits(text, [edit])).toThrow('found 3 times in second')
  })
})

describe('a sample', () => {
  const names = (seed: string): string[] => sampleOf(mutants, 25, seed).map(({ name }) => name)

  it('is the same for the same seed and another for another', () => {
    expect(names('one')).toHaveLength(25)
    expect(names('one')).toEqual(names('one'))
    expect(names('one')).not.toEqual(names('other'))
  })
})
