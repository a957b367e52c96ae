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
  const warnings: string[] = []
  const log = { warn: (message: string) => warnings.push(message) }
  const collection = defineScheduleCollection({ pattern: 'schedules/*', index, now: () => NOW, log })
  return { calls, warnings, collection }
}

describe('a collection of schedules', () => {
  it('mirrors a created schedule with its next occurrence', async () => {
    const { calls, collection } = recording()
    const row = { ...daily, key: 'a', nextFireAt: NINE }
    expect(await collection.create('schedules/a', daily)).toEqual(row)
    await collection.create('schedules/b', { ...daily, timezone: 'Europe/Berlin' })
    const berlin = { ...daily, key: 'b', timezone: 'Europe/Berlin', nextFireAt: NINE + 23 * 3_600_000 }
    expect(calls).toEqual([
      ['upsert', row],
      ['upsert', berlin],
    ])
  })

  it('mirrors an update, and takes the row of a former owner out', async () => {
    const { calls, collection } = recording()
    await collection.update('schedules/a', { ...daily, userId: 'ben' }, daily)
    expect(calls).toEqual([
      ['upsert', { userId: 'ben', key: 'a', cron: '0 9 * * *', nextFireAt: NINE }],
      ['remove', 'ana', 'a'],
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
      ['remove', 'ana', 'a'],
      ['remove', 'ana', 'b'],
    ])
  })

  it('takes a deleted schedule out of the index', async () => {
    const { calls, collection } = recording()
    await collection.delete('schedules/a', daily)
    expect(calls).toEqual([['remove', 'ana', 'a']])
  })

  it('logs a timing that cannot be read and takes its row out, so that the former timing stops firing', async () => {
    const { calls, warnings, collection } = recording()
    expect(await collection.create('schedules/a', { ...daily, cron: '0 25 * * *' })).toBeNull()
    expect(await collection.update('schedules/b', { ...daily, timezone: 'EST' }, daily)).toBeNull()
    expect(await collection.create('schedules/c', { userId: 'ana' } as ScheduleState)).toBeNull()
    expect(calls).toEqual(['a', 'b', 'c'].map((key) => ['remove', 'ana', key]))
    expect(warnings).toEqual([
      expect.stringMatching(/"a" of user "ana" is not mirrored .* hour "25"/),
      expect.stringMatching(/"b" of user "ana" .* "EST"/),
      expect.stringContaining('"c" of user "ana"'),
    ])
  })

  it('refuses a wrong user, switch or key with a code, and writes nothing', async () => {
    const { calls, collection } = recording()
    const refusals = [
      collection.create('schedules/a', { ...daily, userId: '' }),
      collection.create('schedules/a', { ...daily, enabled: 'no' as unknown as boolean }),
      collection.create('other/a', daily),
      collection.delete('schedules/a/b', daily),
    ]
    const codes = await Promise.all(refusals.map((refusal) => refusal.catch((error) => error.code)))
    expect(codes).toEqual(Array(4).fill('OPTION_INVALID'))
    expect(calls).toEqual([])
  })

  it('has hooks for a storage framework, whose scope is the user', async () => {
    const { calls, warnings, collection } = recording()
    const context = { scopeType: 'user', scopeId: 'ana', log: () => {} }
    const state = { cron: '0 9 * * *', kind: 'send-digest', enabled: true }
    await collection.onInstanceCreated!('schedules/a', state, context)
    await collection.onInstanceUpdated!('schedules/a', { ...state, cron: '0 10 * * *' }, state, context)
    await collection.onInstanceUpdated!('schedules/a', { ...state, kind: 'other' }, state, context)
    await collection.onInstanceUpdated!('schedules/a', { ...state, enabled: false }, state, context)
    await collection.onInstanceUpdated!('schedules/a', { ...state, cron: 'not a cron' }, state, context)
    await collection.onInstanceDeleted!('schedules/a', context)
    const row = { userId: 'ana', key: 'a', cron: '0 9 * * *', nextFireAt: NINE }
    expect(calls).toEqual([
      ['upsert', row],
      ['upsert', { ...row, cron: '0 10 * * *', nextFireAt: NINE + 3_600_000 }],
      ...Array(3).fill(['remove', 'ana', 'a']),
    ])
    expect(warnings.length).toBe(1)
  })

  it('has no hooks without an index, and belongs to users', () => {
    const { scope, pattern, onInstanceCreated, onInstanceUpdated, onInstanceDeleted } = defineScheduleCollection({
      pattern: 'schedules/*',
    })
    expect([scope, pattern]).toEqual(['user', 'schedules/*'])
    expect([onInstanceCreated, onInstanceUpdated, onInstanceDeleted]).toEqual([undefined, undefined, undefined])
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

  it('names a row by what follows the literal start of the pattern', async () => {
    const collection = defineScheduleCollection({ pattern: 'users/*/schedules/*' })
    expect(await collection.create('users/1/schedules/a', daily)).toMatchObject({ key: '1/schedules/a' })
    expect(await defineScheduleCollection({ pattern: 'nightly' }).create('nightly', daily)).toMatchObject({
      key: 'nightly',
    })
  })
})
