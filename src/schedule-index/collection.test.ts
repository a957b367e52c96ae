/** Promises of the mirror between a user's storage and the index. */
import { describe, expect, it } from 'vitest'
import { defineScheduleCollection, type ScheduleState } from './collection.ts'
import type { ScheduleIndex } from './contract.ts'

const NOW = Date.parse('2026-11-16T08:00:00Z')
const NINE = NOW + 3_600_000
const daily: ScheduleState = { userId: 'ana', cron: '0 9 * * *' }

/** An index that only writes down what it was asked. */
function recording() {
  const calls: unknown[][] = []
  const index: ScheduleIndex = {
    upsert: async (row) => void calls.push(['upsert', row]),
    remove: async (...identity) => void calls.push(['remove', ...identity]),
    claimDue: () => Promise.reject(new Error('a mirror does not claim')),
  }
  return { calls, collection: defineScheduleCollection({ pattern: 'schedules/*', index, now: () => NOW }) }
}

describe('a collection of schedules', () => {
  it('mirrors a created schedule with its next occurrence', async () => {
    const { calls, collection } = recording()
    const row = { ...daily, key: 'schedules/a', nextFireAt: NINE }
    expect(await collection.create('schedules/a', daily)).toEqual(row)
    await collection.create('schedules/b', { ...daily, timezone: 'Europe/Berlin' })
    const berlin = { ...daily, key: 'schedules/b', timezone: 'Europe/Berlin', nextFireAt: NINE + 23 * 3_600_000 }
    expect(calls).toEqual([
      ['upsert', row],
      ['upsert', berlin],
    ])
  })

  it('mirrors an update, and takes the row of a former owner out', async () => {
    const { calls, collection } = recording()
    await collection.update('schedules/a', { ...daily, userId: 'ben' }, daily)
    expect(calls).toEqual([
      ['upsert', { userId: 'ben', key: 'schedules/a', cron: '0 9 * * *', nextFireAt: NINE }],
      ['remove', 'ana', 'schedules/a'],
    ])
  })

  it('leaves the row alone when an update changes nothing that decides when it fires', async () => {
    const { calls, collection } = recording()
    const renamed = { ...daily, timezone: 'UTC', enabled: true, title: 'other' }
    expect(await collection.update('schedules/a', renamed, { ...daily, title: 'one' } as ScheduleState)).toBeNull()
    expect(calls).toEqual([])
    await collection.update('schedules/a', renamed)
    expect(calls.length).toBe(1)
  })

  it('takes a schedule that is off out of the index, even when its cron cannot be read', async () => {
    const { calls, collection } = recording()
    expect(await collection.create('schedules/a', { ...daily, enabled: false })).toBeNull()
    await collection.update('schedules/b', { ...daily, cron: 'bad', enabled: false }, { ...daily, cron: 'bad' })
    expect(calls).toEqual([
      ['remove', 'ana', 'schedules/a'],
      ['remove', 'ana', 'schedules/b'],
    ])
  })

  it('takes a deleted schedule out of the index', async () => {
    const { calls, collection } = recording()
    await collection.delete('schedules/a', daily)
    expect(calls).toEqual([['remove', 'ana', 'schedules/a']])
  })

  it('refuses what cannot be read with a code, and writes nothing', async () => {
    const { calls, collection } = recording()
    const refusals = [
      collection.create('schedules/a', { ...daily, cron: '0 25 * * *' }),
      collection.update('schedules/a', { ...daily, timezone: 'EST' }),
      collection.create('schedules/a', { ...daily, userId: '' }),
      collection.create('schedules/a', { ...daily, enabled: 'no' as unknown as boolean }),
      collection.create('other/a', daily),
      collection.delete('schedules/a/b', daily),
    ]
    const codes = await Promise.all(refusals.map((refusal) => refusal.catch((error) => error.code)))
    expect(codes).toEqual(['CRON_RANGE', 'TIMEZONE_UNKNOWN', ...Array(4).fill('OPTION_INVALID')])
    expect(calls).toEqual([])
  })

  it('knows its keys by the pattern', () => {
    const { owns } = defineScheduleCollection({ pattern: 'users/*/schedules/*' })
    expect(['users/1/schedules/a', 'users//schedules/a', 'users/1/schedules', 'x/1/schedules/a'].map(owns)).toEqual([
      true,
      false,
      false,
      false,
    ])
    for (const pattern of ['', 'schedules/', 'sched*/a']) {
      expect(() => defineScheduleCollection({ pattern })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
    }
  })

  it('checks and computes without an index as well, by the clock of the machine', async () => {
    const collection = defineScheduleCollection({ pattern: 'schedules/*' })
    const row = await collection.create('schedules/a', { userId: 'ana', cron: '@every 1h' })
    expect(row!.nextFireAt % 3_600_000).toBe(0)
    await collection.delete('schedules/a', { userId: 'ana' })
  })
})
