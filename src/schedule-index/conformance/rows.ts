/** What an index promises about its rows: one per identity, kept as given, gone when removed. */
import assert from 'node:assert/strict'
import { DAY, type Group, NINE, putAll, same, sample } from './harness.ts'

export const rowsGroup: Group = (promise) => {
  promise('keeps one row however often the same one is put in', async ({ index }) => {
    await putAll(index, [sample(), sample(), sample()])
    same(await index.claimDue(NINE), [sample()])
    same(await index.claimDue(NINE), [])
  })

  promise('gives a row back as it was put in', async ({ index }) => {
    const rows = [
      sample({ timezone: 'Europe/Berlin' }),
      sample({ key: 'it\'s "quoted" \\ {a,b}', userId: 'NULL' }),
      sample({ key: 'δίγεστ 🕘', cron: '  0   9 * * MON-FRI ' }),
      sample({ key: 'before-1970', nextFireAt: -1 }),
    ]
    await putAll(index, rows)
    same(await index.claimDue(NINE), rows)
  })

  promise('puts the newer row in the place of the older, with its own next occurrence', async ({ index }) => {
    await putAll(index, [sample({ timezone: 'Europe/Berlin' }), sample({ cron: '0 10 * * *', nextFireAt: NINE + DAY })])
    same(await index.claimDue(NINE), [])
    same(await index.claimDue(NINE + DAY), [sample({ cron: '0 10 * * *', nextFireAt: NINE + DAY })])
  })

  promise('tells the same key of two users, and two keys of one user, apart', async ({ index }) => {
    const rows = [
      sample(),
      sample({ userId: 'ben' }),
      sample({ key: 'sync' }),
      sample({ userId: 'anad', key: 'igest' }),
    ]
    await putAll(index, rows)
    await index.remove('ana', 'digest')
    same(await index.claimDue(NINE), rows.slice(1))
  })

  promise('lets a removed row fire no more, and come back when it is put in again', async ({ index }) => {
    await index.upsert(sample())
    await index.remove('ana', 'digest')
    same(await index.claimDue(NINE + DAY), [])
    await index.upsert(sample())
    same(await index.claimDue(NINE), [sample()])
  })

  promise('removes what is not there without complaint', async ({ index }) => {
    await index.upsert(sample())
    assert.equal(await index.remove('ana', 'nothing'), undefined)
    assert.equal(await index.remove('nobody', 'digest'), undefined)
    same(await index.claimDue(NINE), [sample()])
  })

  promise('lets an edit after a claim decide what comes next', async ({ index }) => {
    await index.upsert(sample())
    await index.claimDue(NINE)
    await index.upsert(sample({ cron: '30 9 * * *', nextFireAt: NINE + 1_800_000 }))
    same(await index.claimDue(NINE + 1_799_999), [])
    same(await index.claimDue(NINE + 1_800_000), [sample({ cron: '30 9 * * *', nextFireAt: NINE + 1_800_000 })])
  })
}
