/** Postgres restarted at once, three times, under a running fleet: everything reconnects, nothing is lost, nothing is unhandled. */
import { afterEach, expect, it } from 'vitest'
import { defineJob, everytick, schedule } from '../../src/index.ts'
import { audit, CLEAN } from './audit.ts'
import { createFleet, type Fleet, until } from './fleet.ts'
import { type ChaosServer, ownPostgres } from './stores.ts'

const reportPresence = defineJob({
  name: 'beat',
  retry: { attempts: 100, backoff: 'fixed', base: '50ms', max: '200ms' },
  run: () => {},
})

let fleet: Fleet | undefined
let server: ChaosServer | undefined
afterEach(async () => {
  await fleet?.killAll()
  await server?.close()
})

it('survives three immediate restarts of Postgres: nothing lost, nothing unhandled, no process ended', async () => {
  server = await ownPostgres()
  const { store, url } = server
  fleet = createFleet(() => url)
  const app = everytick({ store, jobs: [reportPresence] })
  const every = schedule({
    key: 'second',
    every: '1s',
    job: reportPresence,
    catchUp: 'all',
    catchUpLimit: 10_000,
    overlap: 'allow',
  })
  await app.schedules.upsert(every)
  const stored = (await store.schedules.get('default', 'second'))!
  const nodes = [fleet.start('both'), fleet.start('worker')]
  await Promise.all(nodes.map(({ ready }) => ready))
  const back: number[] = []
  for (let i = 0; i < 3; i++) {
    const before = fleet.effects().length
    await until('runs are being made', async () => fleet!.effects().length > before)
    await server.restartImmediately()
    const at = Date.now()
    const seen = fleet.effects().length
    await until('the fleet works again', async () => fleet!.effects().length > seen, 30_000)
    back.push(Date.now() - at)
  }
  const untilAt = await until('the store answers', () => store.now().catch(() => null))
  await until('every run up to here has finished', async () => {
    const runs = await store.history.runs({ scheduleId: stored.id, states: ['pending', 'running'] }, { limit: 200 })
    const cursor = (await store.schedules.get('default', 'second'))!.nextAt!
    return cursor > untilAt && runs.every(({ scheduledAt }) => scheduledAt! > untilAt)
  })
  expect(nodes.map(({ process }) => process.exitCode)).toEqual([null, null])
  await fleet.killAll()
  const watched = [{ scheduleId: stored.id, when: { everyMs: 1000 }, sinceAt: stored.watermarkAt }]
  const { expected, ...found } = await audit(store, watched, { untilAt, effects: fleet.effects() })
  console.log(
    `restarts: working again after ${back.map((ms) => `${ms} ms`).join(', ')}; ${expected} occurrences, each one run`,
  )
  expect(found).toEqual(CLEAN)
  expect(expected).toBeGreaterThanOrEqual(back.length)
  expect(fleet.messages.filter(({ kind }) => kind === 'unhandled')).toEqual([])
}, 120_000)
