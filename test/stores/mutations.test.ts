/** The short form of scripts/mutations.mjs: every listed mistake can still be made, and some promise names it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readText, root } from '../built-package.ts'

interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

interface Mutation extends Edit {
  readonly kills: string
  /** Further edits, in the same file unless they name another. */
  readonly also?: readonly (Omit<Edit, 'file'> & Partial<Edit>)[]
}

const conformance = join(root, 'src', 'testing', 'conformance')
const promises = readdirSync(conformance).map((name) => readFileSync(join(conformance, name), 'utf8'))

describe.each(['sqlite', 'postgres', 'pure'])('the mistakes listed for %s', async (list) => {
  const address = new URL(`mutations/${list}.mjs`, import.meta.url).href
  const { MUTATIONS } = (await import(address)) as { MUTATIONS: readonly Mutation[] }

  it('are at least twelve', () => {
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(12)
  })

  it.each(MUTATIONS)('can still be made: $kills ($file)', (mutation) => {
    const edits = [mutation, ...(mutation.also ?? []).map((edit) => ({ file: mutation.file, ...edit }))]
    for (const { file, find, replace } of edits) {
      expect([find, readText(file).split(find).length - 1]).toEqual([find, 1])
      expect(replace).not.toBe(find)
    }
  })

  // Mistakes in the pure rooms are caught by the tables beside them, which name none.
  if (list !== 'pure')
    it('are each named by a promise of the suite', () => {
      const isNamed = ({ kills }: Mutation): boolean => promises.some((text) => text.includes(`'${kills}'`))
      expect(MUTATIONS.filter((mutation) => !isNamed(mutation))).toEqual([])
    })
})
