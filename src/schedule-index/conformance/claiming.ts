/** What an index promises to one claimer: what is due is claimed once, and each row moves on along its own grid. */
import assert from 'node:assert/strict'
import { at, claimedAt, DAY, type Group, NINE, putAll, same, sample } from './harness.ts'

const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    sample({ key: `k${String(i).padStart(4, '0')}`, nextFireAt: NINE - count + i }),
  )

export const claimingGroup: Group = (promise) => {
  promise('claims a row from the very instant it is due, and not before', async ({ index }) => {
    await index.upsert(sample())
    same(await index.claimDue(NINE - 1), [])
    same(await index.claimDue(NINE), [sample()])
  })

  promise('moves on what it claims, so that the same occurrence is never claimed again', async ({ index }) => {
    await index.upsert(sample())
    same(await index.claimDue(NINE), [sample()])
    same(await index.claimDue(NINE), [])
    same(await index.claimDue(NINE + DAY - 1), [])
    same(await index.claimDue(NINE + DAY), [sample({ nextFireAt: NINE + DAY })])
  })

  promise('answers nothing when there is nothing', async ({ index }) => {
    assert.deepEqual(await index.claimDue(NINE), [])
  })

  promise('does not drift when claims come late', async ({ index }) => {
    await index.upsert(sample({ cron: '*/5 * * * *' }))
    const late = [
      '2026-11-16T09:03:59.999Z',
      '2026-11-16T09:07:12Z',
      '2026-11-16T09:10:00.001Z',
      '2026-11-16T09:14:59Z',
    ]
    const due = [['2026-11-16T09:00:00Z'], ['2026-11-16T09:05:00Z'], ['2026-11-16T09:10:00Z'], []]
    assert.deepEqual(await claimedAt(index, late), due)
  })

  promise('makes one claim of many occurrences that were missed, and goes on after now', async ({ index }) => {
    await index.upsert(sample({ cron: '*/5 * * * *' }))
    const instants = ['2026-11-23T17:02:00Z', '2026-11-23T17:04:59Z', '2026-11-23T17:05:00Z']
    assert.deepEqual(await claimedAt(index, instants), [['2026-11-16T09:00:00Z'], [], ['2026-11-23T17:05:00Z']])
  })

  promise('takes now from its argument, in the far past and in the far future', async ({ index }) => {
    const far = [sample({ key: 'past', nextFireAt: at('1999-12-31T09:00:00Z') })]
    far.push(sample({ key: 'future', nextFireAt: at('2093-06-01T09:00:00Z') }))
    await putAll(index, far)
    same(await index.claimDue(at('1999-12-31T08:59:59Z')), [])
    same(await index.claimDue(at('1999-12-31T09:00:00Z')), [far[0]!])
    same(await index.claimDue(at('1999-12-31T23:00:00Z')), [])
    same(await index.claimDue(at('2000-01-01T09:00:00Z')), [{ ...far[0]!, nextFireAt: at('2000-01-01T09:00:00Z') }])
    await index.remove('ana', 'past')
    same(await index.claimDue(at('2093-06-01T08:59:59Z')), [])
    same(await index.claimDue(at('2093-06-01T09:00:00Z')), [far[1]!])
  })

  promise('claims no more than the limit, the most overdue first', async ({ index }) => {
    const rows = numbered(5)
    await putAll(index, rows.toReversed())
    same(await index.claimDue(NINE, 2), rows.slice(0, 2))
    same(await index.claimDue(NINE, 2), rows.slice(2, 4))
    same(await index.claimDue(NINE, 2), rows.slice(4))
    same(await index.claimDue(NINE, 2), [])
  })

  promise('claims a hundred at a time when no limit is given', async ({ index }) => {
    const rows = numbered(105)
    await putAll(index, rows)
    same(await index.claimDue(NINE), rows.slice(0, 100))
    same(await index.claimDue(NINE), rows.slice(100))
  })
}
