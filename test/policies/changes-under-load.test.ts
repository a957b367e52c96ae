/** Pausing and editing at random while runs are planned, claimed and executed: what was acknowledged holds at once. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, type Everytick, everytick } from '../../src/index.ts'
import { allRuns } from '../../src/testing/look-ahead.ts'
import { until } from '../chaos/fleet.ts'
import { type ChaosStore, STORES } from '../chaos/stores.ts'

const KEYS = Array.from({ length: 24 }, (_, i) => `s${i}`)
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const job = defineJob({ name: 'job', run: () => {} })

let opened: ChaosStore
let apps: Everytick[] = []
afterEach(async () => {
  await Promise.all(apps.map((app) => app.stop({ drain: '1s' })))
  await opened.close()
  apps = []
})

describe.each(Object.entries(STORES))('on %s', (_, open) => {
  it('no run that is due after an acknowledged pause, edit or removal starts from the old plan', async () => {
    opened = await open()
    const { store, url } = opened
    apps = [1, 2].map(() => everytick({ store: url, jobs: [job], logger: quiet, lookahead: '5s' }))
    const [app] = apps as [Everytick]
    const when = { every: '1s', job, overlap: 'allow', jitter: '50%' } as const
    const ids = new Map<string, string>()
    for (const key of KEYS) ids.set(key, (await app.schedules.upsert({ key, ...when })).id)
    // One that nobody touches, so that there is always a next run to wait for.
    await app.schedules.upsert({ key: 'steady', every: '1s', job })
    await Promise.all(apps.map((each) => each.start()))
    await until(
      'runs are in flight',
      async () => (await store.history.runs({ states: ['succeeded'] }, { limit: 50 })).length >= 50,
    )
    /** By when the store had acknowledged it, on the store's own clock. */
    const acknowledged = new Map<string, number>()
    const revisions = new Map<string, number>()
    for (const [i, key] of KEYS.entries()) {
      const change = i % 3
      if (change === 0) await app.schedules.pause('default', key, { reason: 'enough' })
      else if (change === 1) revisions.set(key, (await app.schedules.edit('default', key, { every: '1h' })).revision)
      else await app.schedules.remove('default', key)
      acknowledged.set(key, await store.now())
      // Somewhere in the middle of the next runs.
      await anotherRun(apps)
    }
    const lastAt = await store.now()
    await until('everything that was planned before is over', async () => (await store.now()) > lastAt + 3000)
    for (const key of KEYS) {
      const runs = await allRuns(store, { scheduleId: ids.get(key)! })
      const late = runs.filter(
        ({ dueAt, schedule }) => dueAt > acknowledged.get(key)! && schedule!.revision !== revisions.get(key),
      )
      expect(late, key).toEqual([])
      expect(runs.length, key).toBeGreaterThan(0)
    }
  })
})

const anotherRun = (running: readonly Everytick[]): Promise<void> =>
  new Promise((resolve) => {
    const forget = running.map((app) =>
      app.on('run.succeeded', () => {
        for (const each of forget) each()
        resolve()
      }),
    )
  })
