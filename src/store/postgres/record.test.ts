import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createDatabase, type Database } from '../../../test/postgres/launcher.ts'
import type { Plan } from '../../plan/plan.ts'
import { newId, newRun, planFor, putNew } from '../../testing/conformance/samples.ts'
import { openPostgres, type PostgresStore } from './store.ts'

let database: Database
let client: pg.Client
let store: PostgresStore

beforeAll(async () => {
  database = await createDatabase(inject('postgres'))
  store = await openPostgres({ url: database.url, listen: false })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await Promise.all([store.close(), client.end()])
  await database.drop()
})

const gatesOf = async ({ runs }: Plan) =>
  Promise.all(runs.map(async ({ id }) => (await store.history.run(id))?.gate ?? null))

/** Of two runs, the first due soon enough to be opened. */
async function lanedPlan(lane: string): Promise<Plan> {
  const schedule = await putNew(store, { key: newId() }, { nextAt: (await store.now()) + 10_000 })
  const plan = planFor(schedule, 2, { lane })
  return { ...plan, runs: plan.runs.map((run) => ({ ...run, overlap: 'skip' })) }
}

it('waits for nobody who is filling a lane in a transaction that does not end', async () => {
  const plans = [await lanedPlan('busy'), await lanedPlan('free')]
  await client.query('begin')
  try {
    await store.runs.enqueue([newRun({ lane: 'busy', overlap: 'queue' })], client)
    expect(await store.planning.record(plans)).toEqual(['recorded', 'recorded'])
    // Nobody can know yet whether the lane will be taken, so whoever looks at lanes decides.
    expect(await gatesOf(plans[0]!)).toEqual(['closed', 'closed'])
  } finally {
    await client.query('rollback')
  }
})

it('opens one run of a lane that several plans of one batch share', async () => {
  const plans = [await lanedPlan('shared'), await lanedPlan('shared'), await lanedPlan('own')]
  expect(await store.planning.record(plans)).toEqual(['recorded', 'recorded', 'recorded'])
  const gates = await Promise.all(plans.map(gatesOf))
  expect([...gates[0]!, ...gates[1]!].sort()).toEqual(['closed', 'closed', 'closed', 'open'])
  expect(gates[2]).toEqual(['open', 'closed'])
})

it('counts the runs it made, and not those that were there', async () => {
  const schedule = await putNew(store, { key: newId() })
  const plan = planFor(schedule, 3)
  const made = async () => (await store.schedules.get('default', schedule.key))!
  await store.planning.record([plan])
  expect(await made()).toMatchObject({ made: 3 })
  await store.runs.cancel(plan.runs[1]!.id, 'ana')
  await store.schedules.pause('default', schedule.key, { reason: '', by: 'ana', until: null })
  expect(await made()).toMatchObject({ made: 1 })
  const { nextAt, sinceAt: watermarkAt } = schedule
  await store.schedules.resume('default', schedule.key, { revision: 1, nextAt, watermarkAt, nonRuns: [], by: 'ana' })
  expect(await store.planning.record([plan])).toEqual(['recorded'])
  expect(await made()).toMatchObject({ made: 3 })
})
