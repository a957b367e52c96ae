/** What is gathered is written together, and each caller is answered for itself. */
import { describe, expect, it } from 'vitest'
import { createGather } from './gather.ts'

/** Writes that end when they are told to. */
function writer() {
  const groups: { items: readonly number[]; end: (error?: Error) => void }[] = []
  const write = (items: readonly number[]): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      groups.push({ items, end: (error) => (error ? reject(error) : resolve(items.map(String))) })
    })
  return { groups, write }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('gathering', () => {
  it('writes the first calls at once, and together what comes while those are under way', async () => {
    const { groups, write } = writer()
    const add = createGather({ write, isUnwritten: () => true })
    const answers = [1, 2, 3, 4, 5, 6].map((n) => add([n, n * 10]))
    expect(groups.map(({ items }) => items)).toEqual([
      [1, 10],
      [2, 20],
      [3, 30],
    ])
    groups[0]!.end()
    await turn()
    expect(groups[3]!.items).toEqual([4, 40, 5, 50, 6, 60])
    for (const { end } of groups) end()
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5, 6].map((n) => [String(n), String(n * 10)]))
  })

  it('does not let one caller fail for what another asked for', async () => {
    const write = async (items: readonly number[]): Promise<readonly string[]> => {
      if (items.includes(5)) throw new Error('not 5')
      return items.map(String)
    }
    const add = createGather({ write, isUnwritten: () => true })
    const ended = await Promise.allSettled([1, 2, 3, 4, 5, 6].map((n) => add([n])))
    expect(ended.map(({ status }) => status)).toEqual([...Array(4).fill('fulfilled'), 'rejected', 'fulfilled'])
  })

  it('tells all of a group when nobody knows whether it was written', async () => {
    const { groups, write } = writer()
    const add = createGather({ write, isUnwritten: () => false })
    const answers = Promise.allSettled([1, 2, 3, 4, 5].map((n) => add([n])))
    for (const { end } of [...groups]) end()
    await turn()
    groups[3]!.end(new Error('gone'))
    expect((await answers).map(({ status }) => status)).toEqual([...Array(3).fill('fulfilled'), 'rejected', 'rejected'])
    expect(groups).toHaveLength(4)
  })

  it('never writes more than a thousand of several callers at once, and one large call whole', async () => {
    const { groups, write } = writer()
    const add = createGather({ write, isUnwritten: () => true })
    const list = (size: number) => Array.from({ length: size }, (_, i) => i)
    const answers = [1, 1, 1, 600, 600, 3000].map((size) => add(list(size)))
    while (groups.some(({ items }) => items) && groups.length < 6) {
      for (const { end } of groups) end()
      await turn()
    }
    for (const { end } of groups) end()
    expect(groups.map(({ items }) => items.length)).toEqual([1, 1, 1, 600, 600, 3000])
    expect((await Promise.all(answers)).map(({ length }) => length)).toEqual([1, 1, 1, 600, 600, 3000])
  })
})
