import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import type { Plan } from '../../plan/plan.ts'
import { definitionOf, newId, newRun, planFor, putNew } from '../../testing/conformance/samples.ts'
import { connect } from './connection.ts'
import { createRecord } from './record.ts'
import { openPostgres, type PostgresStore } from './store.ts'

let database: Database
let client: pg.Client
let store: PostgresStore

beforeAll(async () => {
  database = await createReadyDatabase()
  store = await openPostgres({ url: database.url, listen: false })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await Promise.all([store.close(), client.end()])
  await database.drop()
})

const readinessOf = async ({ runs }: Plan) =>
  Promise.all(runs.map(async ({ id }) => (await store.history.run(id))?.readiness ?? null))

const scheduleOf = async ({ scheduleId }: Plan) => {
  const { rows } = await client.query('select key from everytick.schedules where id = $1', [scheduleId])
  return (await store.schedules.get('default', rows[0].key))!
}

/** Of two runs, the first due soon enough to be opened. */
async function groupedPlan(group: string): Promise<Plan> {
  const schedule = await putNew(store, { key: newId() }, { nextAt: (await store.now()) + 10_000 })
  const plan = planFor(schedule, 2, { group })
  return { ...plan, runs: plan.runs.map((run) => ({ ...run, overlap: 'skip' })) }
}

it('waits for nobody who is filling a concurrency_group in a transaction that does not end', async () => {
  const plans = [await groupedPlan('busy'), await groupedPlan('free')]
  await client.query('begin')
  try {
    await store.runs.enqueue([newRun({ group: 'busy', overlap: 'queue' })], client)
    expect(await store.planning.record(plans)).toEqual(['recorded', 'recorded'])
    // Nobody can know yet whether the group will be taken, so whoever looks at groups decides.
    expect(await readinessOf(plans[0]!)).toEqual(['undecided', 'undecided'])
  } finally {
    await client.query('rollback')
  }
})

it('opens one run of a concurrency_group that several plans of one batch share', async () => {
  const plans = [await groupedPlan('shared'), await groupedPlan('shared'), await groupedPlan('own')]
  expect(await store.planning.record(plans)).toEqual(['recorded', 'recorded', 'recorded'])
  const readiness = await Promise.all(plans.map(readinessOf))
  expect([...readiness[0]!, ...readiness[1]!].sort()).toEqual(['ready', 'undecided', 'undecided', 'undecided'])
  expect(readiness[2]).toEqual(['ready', 'undecided'])
})

it('counts the runs it made, and not those that were there', async () => {
  const schedule = await putNew(store, { key: newId() })
  const plan = planFor(schedule, 3)
  const made = async () => (await store.schedules.get('default', schedule.key))!
  await store.planning.record([plan])
  expect(await made()).toMatchObject({ runCount: 3 })
  await store.runs.cancel(plan.runs[1]!.id, 'ana')
  await store.schedules.pause('default', schedule.key, { reason: '', by: 'ana', until: null })
  expect(await made()).toMatchObject({ runCount: 1 })
  const { nextAt, sinceAt: watermarkAt } = schedule
  await store.schedules.resume('default', schedule.key, { revision: 1, nextAt, watermarkAt, nonRuns: [], by: 'ana' })
  expect(await store.planning.record([plan])).toEqual(['recorded'])
  expect(await made()).toMatchObject({ runCount: 3 })
})

describe('a plan of one run', () => {
  /** Of a schedule's own group, and due soon enough to be opened. */
  async function singlePlan(change: Partial<Plan> = {}): Promise<Plan> {
    const schedule = await putNew(store, { key: newId() }, { nextAt: (await store.now()) + 10_000 })
    const plan = planFor(schedule, 1, { group: schedule.id, ...change })
    return { ...plan, runs: plan.runs.map((run) => ({ ...run, overlap: 'skip' })) }
  }

  it('is written once, and only where cursor, watermark and revision are what it was made from', async () => {
    const plan = await singlePlan()
    const wrong: Partial<Plan>[] = [
      { revision: 2 },
      { expectedWatermarkAt: plan.watermarkAt - 1 },
      { expectedNextAt: plan.expectedNextAt! + 1 },
    ]
    for (const change of wrong) expect(await store.planning.record([{ ...plan, ...change }])).toEqual(['stale'])
    const later = plan.expectedNextAt! + 1
    const elsewhere = { expectedNextAt: later, watermarkAt: later, runs: [{ ...plan.runs[0]!, scheduledAt: later }] }
    expect(await store.planning.record([{ ...plan, ...elsewhere }])).toEqual(['stale'])
    expect(await readinessOf(plan)).toEqual([null])
    expect(await store.planning.record([plan, plan])).toEqual(['recorded', 'stale'])
    expect(await store.planning.record([plan])).toEqual(['stale'])
    expect(await readinessOf(plan)).toEqual(['ready'])
  })

  it('is told apart from its neighbours, whatever kind they are of', async () => {
    const [stale, single, other] = [await singlePlan(), await singlePlan(), await singlePlan()]
    const batch = [await groupedPlan('mixed'), { ...stale, revision: 2 }, single, await groupedPlan('mixed'), other]
    expect(await store.planning.record(batch)).toEqual(['recorded', 'stale', 'recorded', 'recorded', 'recorded'])
    expect(await Promise.all([stale, single, other].map(readinessOf))).toEqual([[null], ['ready'], ['ready']])
  })

  it('waits for no cursor of the batch that a transaction holds, and is written when it has ended', async () => {
    const [leased, free] = [await singlePlan(), await singlePlan()]
    await client.query('begin')
    try {
      await client.query('select from everytick.cursors where schedule_id = $1 for update', [leased.scheduleId])
      expect(await store.planning.record([leased, free])).toEqual(['stale', 'recorded'])
    } finally {
      await client.query('rollback')
    }
    expect(await store.planning.record([leased, free])).toEqual(['recorded', 'stale'])
    expect(await Promise.all([leased, free].map(readinessOf))).toEqual([['ready'], ['ready']])
  })

  /** The plan, after the store has seen where its schedule is now. */
  async function found(plan: Plan, lookaheadMs = 60_000): Promise<Plan> {
    const { schedules } = await store.planning.due({ lookaheadMs, limit: 1000 })
    expect(schedules.map(({ id }) => id)).toContain(plan.scheduleId)
    return plan
  }

  it('is written though cursor and schedule were rewritten since they were found', async () => {
    const plans = [await found(await singlePlan()), await found(await singlePlan())]
    const [moved, edited] = plans.map(({ scheduleId }) => scheduleId)
    await client.query('update everytick.cursors set run_count = 7 where schedule_id = $1', [moved])
    await client.query(`update everytick.schedules set payload = '"edited"' where id = $1`, [edited])
    expect(await store.planning.record(plans)).toEqual(['recorded', 'recorded'])
    const payloads = plans.map(async ({ runs }) => (await store.history.run(runs[0]!.id))?.payload)
    expect(await Promise.all(payloads)).toEqual([definitionOf().payload, 'edited'])
    expect(await scheduleOf(plans[0]!)).toMatchObject({ runCount: 8 })
  })

  it('is never written to the cursor of another that stands at its place by now', async () => {
    const [one, other] = [await singlePlan(), await singlePlan()]
    const at = { runs: one.runs, expectedNextAt: other.expectedNextAt, watermarkAt: other.watermarkAt }
    const options = { urls: [database.url], max: 1, prepare: true, statementTimeoutMs: 10_000, name: 'test' } as const
    const connection = connect(options)
    const { rows } = await client.query(
      `select c.ctid::text || s.ctid::text as address from everytick.cursors c join everytick.schedules s on s.id = c.schedule_id
      where s.id = $1`,
      [other.scheduleId],
    )
    const record = createRecord(connection, '"everytick"', { take: () => rows[0].address })
    expect((await record([one, { ...one, ...at }])).answers).toEqual(['recorded', 'stale'])
    await connection.close()
    expect(await store.planning.record([other])).toEqual(['recorded'])
    expect(await Promise.all([one, other].map(readinessOf))).toEqual([['ready'], ['ready']])
  })

  it('goes the short way again after a plan, or an edit, went the long one', async () => {
    // The long way locks before it writes, which stays to be seen on the row; the short one does not.
    const wasLocked = async ({ scheduleId }: Plan): Promise<boolean> =>
      (await client.query(`select xmax <> '0' as locked from everytick.cursors where schedule_id = $1`, [scheduleId]))
        .rows[0].locked
    const single = await singlePlan()
    const schedule = await scheduleOf(single)
    expect(await store.planning.record([planFor(schedule, 2)])).toEqual(['recorded'])
    expect(await wasLocked(single)).toBe(true)
    const next = planFor(await scheduleOf(single), 1)
    expect(await store.planning.record([await found(next, 600_000)])).toEqual(['recorded'])
    expect(await wasLocked(single)).toBe(false)
    const { key, revision, nextAt, sinceAt: watermarkAt } = await scheduleOf(single)
    await store.schedules.pause('default', key, { reason: '', by: 'ana', until: null })
    await store.schedules.resume('default', key, { revision, nextAt, watermarkAt, nonRuns: [], by: 'ana' })
    const last = planFor(await scheduleOf(single), 1)
    expect(await store.planning.record([last])).toEqual(['recorded'])
    expect(await wasLocked(single)).toBe(false)
  })

  it('is written though somebody had locked its cursor, and let it go', async () => {
    const plan = await found(await singlePlan())
    await client.query('begin')
    await client.query('select from everytick.cursors where schedule_id = $1 for update', [plan.scheduleId])
    await client.query('commit')
    expect(await store.planning.record([plan])).toEqual(['recorded'])
  })

  it('loses to another planner that is just writing the same', async () => {
    const plan = await found(await singlePlan())
    await client.query('begin')
    await client.query('update everytick.cursors set next_at = null where schedule_id = $1', [plan.scheduleId])
    const writing = store.planning.record([plan])
    await client.query('commit')
    expect(await writing).toEqual(['stale'])
    expect(await readinessOf(plan)).toEqual([null])
  })

  it('is closed where its concurrency_group is taken, also by one that nobody can see yet', async () => {
    const [seen, unseen] = [await singlePlan(), await singlePlan()]
    await store.runs.enqueue([newRun({ group: seen.group, overlap: 'queue' })])
    expect(await store.planning.record([seen])).toEqual(['recorded'])
    await client.query('begin')
    await store.runs.enqueue([newRun({ group: unseen.group, overlap: 'queue' })], client)
    const writing = store.planning.record([unseen])
    await client.query('commit')
    expect(await writing).toEqual(['recorded'])
    expect(await Promise.all([seen, unseen].map(readinessOf))).toEqual([['undecided'], ['undecided']])
  })

  it('brings back no occurrence that was cancelled ahead of time', async () => {
    const plan = await singlePlan()
    const { key, nextAt, sinceAt: watermarkAt } = await scheduleOf(plan)
    await store.planning.record([plan])
    await store.runs.cancel(plan.runs[0]!.id, 'ana')
    await store.schedules.pause('default', key, { reason: '', by: 'ana', until: null })
    await store.schedules.resume('default', key, { revision: 1, nextAt, watermarkAt, nonRuns: [], by: 'ana' })
    expect(await store.planning.record([plan])).toEqual(['recorded'])
    expect(await store.history.run(plan.runs[0]!.id)).toMatchObject({ state: 'cancelled' })
    expect((await client.query('select from everytick.runs where schedule_id = $1', [plan.scheduleId])).rowCount).toBe(
      0,
    )
  })
})

it('passes over the schedules whose plans are being written', async () => {
  const until = (await store.now()) - 60_000
  const [one, two, three] = [
    await putNew(store, { key: newId() }, { nextAt: until - 3 }),
    await putNew(store, { key: newId() }, { nextAt: until - 2 }),
    await putNew(store, { key: newId() }, { nextAt: until - 1 }),
  ]
  const due = async (limit: number, except: readonly string[]) =>
    (await store.planning.due({ lookaheadMs: -60_000, limit, except })).schedules.map(({ id }) => id)
  expect(await due(2, [one.id])).toEqual([two.id, three.id])
  expect(await due(2, [one.id, three.id])).toEqual([two.id])
  expect(await due(2, [])).toEqual([one.id, two.id])
})
