/** What an index promises when several claim at once: each due row goes to one of them, and none is left behind. */
import assert from 'node:assert/strict'
import type { ScheduleIndex, ScheduleIndexRow } from '../contract.ts'
import { DAY, type Group, NINE, putAll, same, sample } from './harness.ts'

const spike = (count: number): ScheduleIndexRow[] =>
  Array.from({ length: count }, (_, i) => sample({ userId: `u${i % 7}`, key: `k${i}` }))

/** Many claims at the same instant, by turns through both indexes. */
const rush = (indexes: readonly ScheduleIndex[], claims: number, limit: number) =>
  Promise.all(Array.from({ length: claims }, (_, i) => indexes[i % indexes.length]!.claimDue(NINE, limit)))

const nameOf = ({ userId, key }: ScheduleIndexRow): string => `${userId}/${key}`

/** Claims until nothing is left, but not for ever: an index that gives out the same rows again is to be caught, not followed. */
async function rest(index: ScheduleIndex, rows: readonly ScheduleIndexRow[]): Promise<ScheduleIndexRow[]> {
  const found: ScheduleIndexRow[] = []
  while (found.length <= rows.length) {
    const more = await index.claimDue(NINE)
    if (more.length === 0) break
    found.push(...more)
  }
  return found
}

export const rivalsGroup: Group = (promise) => {
  promise('gives rivals at the same now different rows, and every row to one of them', async ({ index, rival }) => {
    const rows = spike(120)
    await putAll(index, rows)
    const claimed = (await rush([index, rival], 12, 7)).flat()
    // Claimers that step aside for each other may leave rows for the next claim, but must not lose them.
    same([...claimed, ...(await rest(rival, rows))], rows)
  })

  promise('gives one due row to one of many', async ({ index, rival }) => {
    await index.upsert(sample())
    same((await rush([index, rival], 10, 100)).flat(), [sample()])
    same(await rival.claimDue(NINE + DAY), [sample({ nextFireAt: NINE + DAY })])
  })

  promise('keeps every claim whole while others remove', async ({ index, rival }) => {
    const rows = spike(40)
    const [removed, kept] = [rows.slice(0, 10), rows.slice(10)]
    await putAll(index, rows)
    const removals = removed.map(({ userId, key }) => rival.remove(userId, key))
    const [claims] = await Promise.all([rush([index, rival], 4, 10), ...removals])
    const names = [...claims.flat(), ...(await rest(index, rows))].map(nameOf)
    assert.equal(new Set(names).size, names.length)
    assert.deepEqual(
      kept.map(nameOf).filter((name) => !names.includes(name)),
      [],
    )
    // What was removed meanwhile has not come back with the claim that met it.
    same(
      await index.claimDue(NINE + DAY),
      kept.map((row) => ({ ...row, nextFireAt: NINE + DAY })),
    )
  })
}
