/** What the chaos tests hold their storms to: the audit finds nothing wrong where nothing is, and each wrong by its name. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { claimed, MINUTE, planFor, putNew, settled } from '../../src/testing/conformance/samples.ts'
import { audit, CLEAN, type Watched } from './audit.ts'
import type { Effect } from './fleet.ts'
import { type ChaosStore, STORES } from './stores.ts'

let opened: ChaosStore
let watched: Watched
let untilAt: number
let done: Effect

/** One occurrence that became one run, which ended with the fence that its handler wrote down. */
beforeEach(async () => {
  opened = await STORES.SQLite()
  const { store } = opened
  untilAt = Math.floor((await store.now()) / MINUTE) * MINUTE
  const sinceAt = untilAt - 1
  const schedule = await putNew(store, {}, { nextAt: untilAt, watermarkAt: sinceAt })
  await store.planning.record([planFor(schedule, 1)])
  const [run] = await claimed(store)
  await settled(store, run!, { kind: 'final', state: 'succeeded', result: { fence: 1 } })
  watched = { scheduleId: schedule.id, when: { everyMs: MINUTE }, sinceAt }
  done = { id: run!.id, attempt: 1, fence: 1, pid: 1, scheduledAt: new Date(untilAt).toISOString() }
})
afterEach(() => opened.close())

it('finds nothing wrong where every occurrence became one run that its handler wrote down', async () => {
  expect(await audit(opened.store, [watched], { untilAt, effects: [done] })).toEqual({ expected: 1, ...CLEAN })
})

it.each([
  [
    'an effect of a run that the store does not know',
    'unknownEffects',
    (): Effect[] => [done, { ...done, id: 'gone' }],
  ],
  ['a run without an effect', 'unwitnessed', (): Effect[] => []],
  ['a result under another fence than that of its effect', 'unwitnessed', (): Effect[] => [{ ...done, fence: 2 }]],
] as const)('finds %s', async (_, verdict, effects) => {
  const found = await audit(opened.store, [watched], { untilAt, effects: effects() })
  expect(found[verdict]).toHaveLength(1)
})

it('finds an occurrence without a run', async () => {
  const earlier = { ...watched, sinceAt: watched.sinceAt - MINUTE }
  const { expected, lost } = await audit(opened.store, [earlier], { untilAt, effects: [done] })
  expect([expected, lost]).toEqual([2, [`${watched.scheduleId} ${new Date(untilAt - MINUTE).toISOString()}`]])
})
