import { describe, expect, it } from 'vitest'
import { STATS_BUCKET_MS as STRETCH, type Stats, type StatsStore } from '../../store/contract/stats.ts'
import { createDoubleFires } from './double-fires.ts'

const AT = 1000 * STRETCH
const stats = (at: number, doubled: number): Stats => ({
  ...{ at, succeeded: 9, failed: 0, cancelled: 0, skipped: 0, missed: 0, attempts: 9, doubled },
  ...{ lateness: [], durations: [], durationSumMs: 0 },
})

/** What one who reads so asks for, and how it is answered. */
function reader(stretches: readonly Stats[]): { readonly asked: number[][]; readonly read: StatsStore['read'] } {
  const asked: number[][] = []
  return {
    asked,
    async read(_, { fromAt, toAt }) {
      asked.push([fromAt, toAt])
      return stretches.filter(({ at }) => at >= fromAt && at <= toAt)
    },
  }
}

describe('double fires', () => {
  it('are counted from the moment the server began, each stretch once', async () => {
    const { read } = reader([
      stats(AT - 5 * STRETCH, 7),
      stats(AT, 1),
      stats(AT + STRETCH, 0),
      stats(AT + 2 * STRETCH, 2),
    ])
    const fires = createDoubleFires()
    const counts: number[] = []
    for (const after of [1, 1, 2, 2, 3, 4, 5]) counts.push(await fires.look(read, AT + after * STRETCH))
    expect(counts).toEqual([0, 0, 1, 1, 1, 3, 3])
  })

  it('are looked for only in stretches that were over for a while, and only when one has become so', async () => {
    const { read, asked } = reader([])
    const fires = createDoubleFires()
    for (const after of [1, 1.5, 1.9, 2.1, 2.9]) await fires.look(read, AT + after * STRETCH)
    expect(asked).toEqual([[AT, AT + STRETCH - 1]])
  })

  it('are counted once though two look at the same time', async () => {
    const { read } = reader([stats(AT, 3)])
    const fires = createDoubleFires()
    await fires.look(read, AT + STRETCH)
    await Promise.all([fires.look(read, AT + 2 * STRETCH), fires.look(read, AT + 2 * STRETCH)])
    expect(await fires.look(read, AT + 2 * STRETCH)).toBe(3)
  })
})
