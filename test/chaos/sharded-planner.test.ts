/** One of several planners that share the schedules is killed: the other plans its share too, and every occurrence is accounted for. */
import { afterEach, expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { createFleet, type Fleet, until } from './fleet.ts'
import { type ChaosStore, STORES } from './stores.ts'

const COUNT = 40
/** Further ahead than the killed planner had planned. */
const BEYOND_MS = 15_000
const reportPresence = defineJob({ name: 'beat', run: () => {} })
const silent = { debug() {}, info() {}, warn() {}, error() {} }

let fleet: Fleet | undefined
let opened: ChaosStore | undefined
afterEach(async () => {
  await fleet?.killAll()
  await opened?.close()
})

it('leaves its share to the other, which loses and doubles no occurrence', async () => {
  opened = await STORES.Postgres()
  const { store, url } = opened
  fleet = createFleet(() => url, { planner: 'sharded' })
  const app = everytick({ store, jobs: [reportPresence], logger: silent })
  const ids: string[] = []
  for (let n = 0; n < COUNT; n++) {
    const { id } = await app.schedules.upsert({ key: `s${n}`, every: '1s', job: reportPresence, overlap: 'allow' })
    ids.push(id)
  }
  const nodes = [fleet.start('scheduler'), fleet.start('scheduler')]
  await Promise.all(nodes.map(({ ready }) => ready))
  const places = async () => (await store.locks.list()).filter(({ name }) => /^planner(-2)?$/.test(name))
  await until('both plan', async () => (await places()).length === 2)
  nodes[1]!.process.kill('SIGKILL')
  await nodes[1]!.gone
  const killedAt = await store.now()
  await until('the other plans all', async () => {
    const schedules = await Promise.all(ids.map((id) => store.schedules.byId(id)))
    return schedules.every((schedule) => (schedule?.nextAt ?? 0) > killedAt + BEYOND_MS)
  })
  const { ok, lostCount, doubledCount, unexplainedCount, expected } = await app.audit()
  expect({ ok, lostCount, doubledCount, unexplainedCount }).toEqual({
    ok: true,
    lostCount: 0,
    doubledCount: 0,
    unexplainedCount: 0,
  })
  expect(expected).toBeGreaterThan(COUNT)
  await app.stop()
})
