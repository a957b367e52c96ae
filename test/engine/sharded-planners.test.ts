/** Several schedulers with `planner: { mode: 'sharded' }` on a real Postgres: each plans a share, together they plan every occurrence one time, and the share of one that is gone goes to the others. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineJob, type Everytick, everytick, schedule } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import type { Database } from '../postgres/launcher.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'

const COUNT = 60
const job = defineJob({ name: 'job', run: () => {} })
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const schedules = Array.from({ length: COUNT }, (_, n) =>
  schedule({ key: `s${n}`, every: '1s', job, overlap: 'allow' }),
)

let database: Database
let apps: Everytick[] = []

beforeEach(async () => {
  database = await createReadyDatabase()
})
afterEach(async () => {
  for (const app of apps) await app.stop({ drain: '1s' })
  apps = []
  await database.drop()
})

/** How many runs the planner of each app has made. */
const planned: number[] = []

async function start(): Promise<Everytick> {
  const app = everytick({
    store: database.url,
    jobs: [job],
    schedules,
    planner: { mode: 'sharded' },
    queues: { default: 50 },
    logger: silent,
  })
  const index = apps.push(app) - 1
  planned[index] = 0
  coreOf(app).hub.onEvent((fact) => {
    if (fact.kind === 'schedule.planned') planned[index]! += fact.runs
  })
  await app.start()
  return app
}

it('share the schedules, take over from one that stops, and plan every occurrence one time', async () => {
  const [first] = [await start(), await start()]
  const both = async () => {
    const leased = (await coreOf(first).store()).locks.list()
    return (await leased).filter(({ name }) => name === 'planner' || name === 'planner-2').length
  }
  await vi.waitFor(async () => expect(await both()).toBe(2), { timeout: 30_000, interval: 100 })
  const before = [...planned]
  await vi.waitFor(() => expect(Math.min(...planned.map((count, i) => count - before[i]!))).toBeGreaterThan(COUNT), {
    timeout: 30_000,
    interval: 100,
  })
  await apps.pop()!.stop({ drain: '1s' })
  const alone = planned[0]!
  await vi.waitFor(() => expect(planned[0]! - alone).toBeGreaterThan(COUNT * 3), { timeout: 30_000, interval: 100 })
  const { ok, expected, lostCount, doubledCount, unexplainedCount } = await first.audit()
  expect({ ok, lostCount, doubledCount, unexplainedCount }).toEqual({
    ok: true,
    lostCount: 0,
    doubledCount: 0,
    unexplainedCount: 0,
  })
  expect(expected).toBeGreaterThan(COUNT)
})
