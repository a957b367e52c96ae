/** What an index promises about rows it cannot read: they are not claimed, stop nobody, are not read for ever, and can be repaired. */
import type { ScheduleIndexRow } from '../contract.ts'
import { DAY, type Group, NINE, putAll, same, sample } from './harness.ts'

const HUNDRED_YEARS = 36_525 * DAY

/** All of them due before the good row. */
const bad = (count: number): ScheduleIndexRow[] =>
  Array.from({ length: count }, (_, i) => {
    const wrong = i % 2 === 0 ? { cron: 'every now and then' } : { timezone: 'Mars/Olympus_Mons' }
    return sample({ userId: 'mallory', key: `bad-${i}`, nextFireAt: NINE - DAY + i, ...wrong })
  })

export const badRowsGroup: Group = (promise) => {
  promise('claims the good row among bad ones, and no bad one', async ({ index }) => {
    await putAll(index, [...bad(2), sample()])
    same(await index.claimDue(NINE), [sample()])
  })

  promise('claims the good row behind a hundred bad rows at once', async ({ index }) => {
    await putAll(index, [...bad(100), sample()])
    same(await index.claimDue(NINE), [sample()])
  })

  promise('claims as many good rows behind bad ones as the limit allows', async ({ index }) => {
    const good = [0, 1, 2].map((i) => sample({ key: `good-${i}`, nextFireAt: NINE + i }))
    await putAll(index, [...bad(30), ...good])
    same(await index.claimDue(NINE + DAY / 2, 2), good.slice(0, 2))
    same(await index.claimDue(NINE + DAY / 2, 2), good.slice(2))
  })

  promise('never claims a bad row later, however late', async ({ index }) => {
    await putAll(index, bad(3))
    same(await index.claimDue(NINE), [])
    same(await index.claimDue(NINE + HUNDRED_YEARS), [])
  })

  promise('lets a repaired row fire again, and a bad one be removed', async ({ index }) => {
    const [first, second] = bad(2)
    await putAll(index, [first!, second!])
    await index.claimDue(NINE)
    const repaired = sample({ userId: first!.userId, key: first!.key })
    await index.upsert(repaired)
    await index.remove(second!.userId, second!.key)
    same(await index.claimDue(NINE), [repaired])
  })
}
