import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../schedule/calendar.ts'
import { STATS_BUCKET_MS as STRETCH, type Stats, type StatsStore } from '../../store/contract/stats.ts'
import { nothingAt } from '../../store/stats-sums.ts'
import { createDayTotals } from './day-totals.ts'

const DAY = 20_000 * DAY_MS
const MINUTE = 60_000
const stats = (at: number, counts: Partial<Stats>): Stats => ({ ...nothingAt(at), ...counts })

/** A store with these sums, and what it was asked. */
function storeOf(stretches: readonly Stats[]): { readonly asked: number[][]; readonly read: StatsStore['read'] } {
  const asked: number[][] = []
  return {
    asked,
    async read(_, { fromAt, toAt }) {
      asked.push([fromAt, toAt])
      return stretches.filter(({ at }) => at >= fromAt && at < toAt)
    },
  }
}

describe('the totals of a day', () => {
  const { read } = storeOf([
    stats(DAY - STRETCH, { succeeded: 100, failed: 7 }),
    stats(DAY, { succeeded: 2, failed: 1 }),
    stats(DAY + STRETCH, { succeeded: 3, missed: 4, doubled: 1 }),
  ])
  const at = [0, MINUTE, STRETCH, STRETCH + MINUTE, 2 * STRETCH + MINUTE, DAY_MS, DAY_MS + STRETCH + MINUTE]

  it('grow with every stretch that is over for a minute, and begin at 0 with the first stretch of the next day', async () => {
    const totals = createDayTotals()
    const seen: number[][] = []
    for (const after of at) {
      const { succeeded, failed, missed, doubled } = await totals.poll(read, DAY + after)
      seen.push([succeeded, failed, missed, doubled])
    }
    const [yesterday, first, both] = [
      [100, 7, 0, 0],
      [2, 1, 0, 0],
      [5, 1, 4, 1],
    ]
    expect(seen).toEqual([[0, 0, 0, 0], yesterday, yesterday, first, both, both, [0, 0, 0, 0]])
  })

  it('are the same for a server that started a moment ago', async () => {
    const old = createDayTotals()
    for (const after of at.slice(1, 6)) {
      const now = DAY + after
      expect(await createDayTotals().poll(read, now)).toEqual(await old.poll(read, now))
    }
  })

  it('ask the store once for each stretch', async () => {
    const store = storeOf([])
    const totals = createDayTotals()
    for (const after of [1, 2, 4, 6, 8, 10, 11]) await totals.poll(store.read, DAY + after * MINUTE)
    expect(store.asked).toEqual([
      [DAY - DAY_MS, DAY],
      [DAY, DAY + STRETCH],
      [DAY, DAY + 2 * STRETCH],
    ])
  })

  it('never fall within a day, though a sum came out smaller', async () => {
    const totals = createDayTotals()
    await totals.poll(storeOf([stats(DAY, { failed: 3 })]).read, DAY + STRETCH + MINUTE)
    const { failed } = await totals.poll(storeOf([stats(DAY, { failed: 2 })]).read, DAY + 2 * STRETCH + MINUTE)
    expect(failed).toBe(3)
  })
})
