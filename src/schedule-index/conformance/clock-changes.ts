/** What an index promises where the clock changes: the wall time of the row's zone is kept, and no occurrence is lost or doubled. */
import assert from 'node:assert/strict'
import type { ScheduleIndexRow } from '../contract.ts'
import { at, claimedAt, type Group, sample } from './harness.ts'

const newYork = (cron: string, first: string): ScheduleIndexRow =>
  sample({ cron, timezone: 'America/New_York', nextFireAt: at(first) })

export const clockChangesGroup: Group = (promise) => {
  promise('moves a wall time that does not exist to the end of the gap', async ({ index }) => {
    await index.upsert(newYork('30 2 * * *', '2026-03-07T07:30:00Z'))
    const instants = [
      '2026-03-07T07:30:00Z',
      '2026-03-08T06:59:59.999Z',
      '2026-03-08T07:00:00Z', // 03:00 EDT, for 02:30 is not there
      '2026-03-08T07:30:00Z',
      '2026-03-09T06:29:59.999Z',
      '2026-03-09T06:30:00Z',
    ]
    const due = [['2026-03-07T07:30:00Z'], [], ['2026-03-08T07:00:00Z'], [], [], ['2026-03-09T06:30:00Z']]
    assert.deepEqual(await claimedAt(index, instants), due)
  })

  promise('claims a wall time that exists twice once, at its first instant', async ({ index }) => {
    await index.upsert(newYork('30 1 * * *', '2026-10-31T05:30:00Z'))
    const instants = [
      '2026-10-31T05:30:00Z',
      '2026-11-01T05:30:00Z', // 01:30 EDT
      '2026-11-01T06:30:00Z', // 01:30 EST
      '2026-11-02T06:29:59.999Z',
      '2026-11-02T06:30:00Z',
    ]
    const due = [['2026-10-31T05:30:00Z'], ['2026-11-01T05:30:00Z'], [], [], ['2026-11-02T06:30:00Z']]
    assert.deepEqual(await claimedAt(index, instants), due)
  })

  promise('lets a wildcard run through both passes of a repeated hour', async ({ index }) => {
    const passes = ['2026-11-01T05:00:00Z', '2026-11-01T05:30:00Z', '2026-11-01T06:00:00Z', '2026-11-01T06:30:00Z']
    await index.upsert(newYork('*/30 * * * *', passes[0]!))
    assert.deepEqual(
      await claimedAt(index, passes),
      passes.map((pass) => [pass]),
    )
  })

  promise('goes on at the right wall time when the whole change was slept through', async ({ index }) => {
    await index.upsert(newYork('0 9 * * *', '2026-10-30T13:00:00Z'))
    const instants = ['2026-11-03T00:00:00Z', '2026-11-03T13:00:00Z', '2026-11-03T14:00:00Z']
    assert.deepEqual(await claimedAt(index, instants), [['2026-10-30T13:00:00Z'], [], ['2026-11-03T14:00:00Z']])
  })
}
