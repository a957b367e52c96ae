/** Finding schedules: what is asked for and nothing else, in one order, without losing anybody between pages; and what fires alike. */
import { expect } from 'vitest'
import type { ScheduleDefinition } from '../../schedule/schedule.ts'
import type { ScheduleFilter } from '../../store/contract/schedules.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { DAY, definitionOf, HOUR, MINUTE, newId, putAgain, putNew, putOf, SECOND } from './samples.ts'

/** Keys of all that is found, page by page. */
async function keysFound(store: Store, filter: ScheduleFilter, limit = 2): Promise<string[]> {
  const keys: string[] = []
  let after: { workspace: string; key: string } | undefined
  for (let pages = 1; pages <= 100; pages += 1) {
    const { schedules, next } = await store.schedules.find(filter, { limit, ...(after ? { after } : {}) })
    expect(schedules.length).toBeLessThanOrEqual(limit)
    keys.push(...schedules.map(({ workspace, key }) => `${workspace}/${key}`))
    if (next === null) return keys
    after = next
  }
  throw new Error('finding did not come to an end')
}

/** Puts many at once, all else alike. */
async function putMany(store: Store, definitions: readonly ScheduleDefinition[]): Promise<void> {
  const now = await store.now()
  await store.schedules.put(definitions.map((definition) => putOf(definition, { nextAt: now + DAY, watermarkAt: now })))
}

const paused = (store: Store, workspace: string, key: string): Promise<boolean> =>
  store.schedules.pause(workspace, key, { reason: '', by: 'ana', until: null })

const quarantined = async (store: Store, workspace: string, key: string): Promise<void> => {
  const { id, nextAt, revision } = (await store.schedules.get(workspace, key))!
  await store.planning.quarantine(
    { id, revision, nextAt: nextAt! },
    { code: 'CRON_INVALID', message: 'cannot be read' },
  )
}

/** Schedules of two workspaces, each otherwise in one way. */
async function fleet(store: Store): Promise<void> {
  await putNew(store, { workspace: 'a', key: 'code', source: 'code', tags: [] })
  await putNew(store, { workspace: 'a', key: 'code-app', source: 'code:shop', tags: [] })
  await putNew(store, { workspace: 'a', key: 'api', source: 'api', tags: ['crm', 'x', 'x'] })
  await putNew(store, { workspace: 'a', key: 'Paused', source: 'api', tags: ['crm'] })
  await putNew(store, { workspace: 'b', key: 'ill', source: 'api', tags: ['x'] })
  await putNew(store, { workspace: 'b', key: 'ill-paused', source: 'code', tags: ['x'] })
  await putNew(store, { workspace: 'b', key: 'job', source: 'api', tags: [], job: 'other' })
  await quarantined(store, 'b', 'ill')
  await quarantined(store, 'b', 'ill-paused')
  await paused(store, 'a', 'Paused')
  await paused(store, 'b', 'ill-paused')
}

const EXPECTED: readonly (readonly [ScheduleFilter, readonly string[]])[] = [
  [{}, ['a/Paused', 'a/api', 'a/code', 'a/code-app', 'b/ill', 'b/ill-paused', 'b/job']],
  [{ workspace: 'b' }, ['b/ill', 'b/ill-paused', 'b/job']],
  [{ job: 'other' }, ['b/job']],
  [{ tag: 'x' }, ['a/api', 'b/ill', 'b/ill-paused']],
  [{ tag: 'x', workspace: 'b' }, ['b/ill', 'b/ill-paused']],
  [{ tag: 'x', source: 'code' }, ['b/ill-paused']],
  [{ tag: 'crm', paused: false }, ['a/api']],
  [{ tag: 'nobody' }, []],
  [{ source: 'code' }, ['a/code', 'a/code-app', 'b/ill-paused']],
  [{ source: 'api' }, ['a/Paused', 'a/api', 'b/ill', 'b/job']],
  [{ paused: true }, ['a/Paused', 'b/ill-paused']],
  [{ paused: false }, ['a/api', 'a/code', 'a/code-app', 'b/ill', 'b/job']],
  [{ quarantined: true }, ['b/ill', 'b/ill-paused']],
  [{ quarantined: true, paused: true }, ['b/ill-paused']],
  [{ quarantined: false, workspace: 'b' }, ['b/job']],
  [{ text: 'PAUSED' }, ['a/Paused', 'b/ill-paused']],
  [{ text: '%' }, []],
  [{ text: 'code', source: 'code', workspace: 'a' }, ['a/code', 'a/code-app']],
]

export const scheduleFindGroup: Group = (promise) => {
  promise('finds a schedule by its id', { kills: 'a schedule is not found by its id' }, async ({ store }) => {
    const schedule = await putNew(store)
    await putNew(store, { key: 'other' })
    expect(await store.schedules.byId(schedule.id)).toEqual(schedule)
    expect(await store.schedules.byId(newId())).toBeNull()
    expect(await store.schedules.byId('no id')).toBeNull()
  })

  promise(
    'finds what is asked for, all of it and nothing else',
    { kills: 'finding leaves a filter out' },
    async ({ store }) => {
      await fleet(store)
      for (const [filter, keys] of EXPECTED) expect([filter, await keysFound(store, filter)]).toEqual([filter, keys])
    },
  )

  promise('finds whole schedules, as they are', { kills: 'finding forgets a column' }, async ({ store }) => {
    await fleet(store)
    const { schedules } = await store.schedules.find({}, { limit: 50 })
    expect(schedules).toHaveLength(7)
    for (const schedule of schedules)
      expect(schedule).toEqual(await store.schedules.get(schedule.workspace, schedule.key))
  })

  promise(
    'finds by tags as they are now, also when they were changed or their schedule removed',
    { kills: 'tags are found that nobody has any more' },
    async ({ store }) => {
      const schedule = await putNew(store, { key: 'one', tags: ['old', 'kept'] })
      await putNew(store, { key: 'two', tags: ['kept', 'long'.repeat(300)] })
      await store.schedules.put([putAgain(schedule, { tags: ['new', 'kept'] })])
      expect(await keysFound(store, { tag: 'old' })).toEqual([])
      expect(await keysFound(store, { tag: 'new' })).toEqual(['default/one'])
      expect(await keysFound(store, { tag: 'kept' })).toEqual(['default/one', 'default/two'])
      expect(await keysFound(store, { tag: 'long'.repeat(300) })).toEqual(['default/two'])
      expect(await keysFound(store, { tag: 'long'.repeat(299) })).toEqual([])
      await store.schedules.remove('default', 'one', 'ana')
      expect(await keysFound(store, { tag: 'kept' })).toEqual(['default/two'])
      await store.schedules.removeWorkspace('default', 'ana')
      expect(await keysFound(store, { tag: 'kept' })).toEqual([])
    },
  )

  promise(
    'says where to go on when it has looked at many in vain, and comes to all of them',
    { kills: 'finding stops after its first look' },
    async ({ store }) => {
      const definitions = Array.from({ length: 12_000 }, (_, i) =>
        definitionOf({ key: `k${String(i).padStart(5, '0')}`, job: i % 5990 === 5989 ? 'rare' : 'usual', tags: [] }),
      )
      for (let i = 0; i < definitions.length; i += 2000) await putMany(store, definitions.slice(i, i + 2000))
      expect(await keysFound(store, { job: 'rare' })).toEqual(['default/k05989', 'default/k11979'])
      const first = await store.schedules.find({ job: 'nobody' }, { limit: 5 })
      expect(first.schedules).toEqual([])
      expect(first.next).not.toBeNull()
      expect(await keysFound(store, { job: 'nobody' })).toEqual([])
    },
  )

  promise(
    'finds those whose cursor is behind the clock, few or many',
    { kills: 'an overdue schedule is not found' },
    async ({ store, advance }) => {
      const now = await store.now()
      const late = (key: string, at: number, change = {}): Promise<unknown> =>
        putNew(store, { key, tags: [], ...change }, { nextAt: at, watermarkAt: at - 1 })
      await late('very', now - HOUR, { tags: ['x'] })
      await late('some', now - MINUTE)
      await late('not', now + HOUR)
      expect(await keysFound(store, { overdueMs: MINUTE })).toEqual(['default/some', 'default/very'])
      expect(await keysFound(store, { overdueMs: MINUTE + 1 })).toEqual(['default/very'])
      expect(await keysFound(store, { overdueMs: 0, tag: 'x' })).toEqual(['default/very'])
      expect(await keysFound(store, { overdueMs: 0, workspace: 'other' })).toEqual([])
      const many = Array.from({ length: 2500 }, (_, i) => definitionOf({ workspace: 'many', key: `k${i}`, tags: [] }))
      await putMany(store, many)
      await advance(DAY + SECOND)
      expect(await keysFound(store, { overdueMs: SECOND, text: 'k249' }, 20)).toHaveLength(11)
      expect(await keysFound(store, { overdueMs: DAY })).toEqual(['default/some', 'default/very'])
    },
  )

  promise(
    'counts those that fire alike, and none that may not fire',
    { kills: 'schedules that differ count as alike' },
    async ({ store }) => {
      const at = 1_900_000_000_000 - (1_900_000_000_000 % HOUR)
      const every = (anchorAt: number) => ({ kind: 'interval', everyMs: HOUR, anchorAt }) as const
      const cron = { kind: 'cron', cron: '0 9 * * *', timezone: 'Europe/Berlin' } as const
      const firing = { ...definitionOf().firing, jitter: { max: { ms: 5 }, per: 'schedule' } } as const
      const changes: Partial<ScheduleDefinition>[] = [
        { timing: every(at) },
        { timing: every(at - HOUR + 59_999) },
        { timing: every(-HOUR) },
        { timing: every(at + MINUTE) },
        { timing: { ...every(at), startAt: at } },
        { timing: cron, workspace: 'b' },
        { timing: cron },
        { timing: cron, job: 'other' },
        { timing: cron, firing },
        { timing: { kind: 'once', at } },
        { timing: { kind: 'once', at: at + 59_999 } },
        { timing: { kind: 'once', at: at + MINUTE } },
      ]
      for (const [n, change] of changes.entries()) await putNew(store, { key: `k${n}`, ...change })
      for (const key of ['paused', 'ill']) await putNew(store, { key, timing: cron })
      await paused(store, 'default', 'paused')
      await quarantined(store, 'default', 'ill')
      const counted = async (workspace?: string): Promise<string[]> =>
        (await store.schedules.classes(workspace))
          .map(({ count, timing, jitter, job }) => `${count} ${timing.kind} ${job}${jitter ? ' spread' : ''}`)
          .sort()
      const others = [
        '1 cron other',
        '1 cron sync-crm spread',
        '1 interval sync-crm',
        '1 interval sync-crm',
        '1 once sync-crm',
      ]
      const uniform = ['2 cron sync-crm', '2 once sync-crm', '3 interval sync-crm']
      expect(await counted()).toEqual([...others, ...uniform])
      expect(await counted('b')).toEqual(['1 cron sync-crm'])
      const spread = (await store.schedules.classes()).find(({ jitter }) => jitter !== null)
      expect(spread).toEqual({
        ...{ timing: cron, jitter: firing.jitter, job: 'sync-crm', count: 1 },
        sample: { workspace: 'default', key: 'k8' },
      })
    },
  )
}
