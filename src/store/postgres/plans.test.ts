/** Holds the plans of the statements on the working path: whatever the tables have grown to, only what is asked for is read. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { explain, MODES, mostRows, type PlanNode, pagesOf, readWhole } from '../../../test/postgres/explain.ts'
import { createDatabase, type Database } from '../../../test/postgres/launcher.ts'
import type { Run } from '../../run/run.ts'
import type { Verdict } from '../../run/settle.ts'
import { againIn, definitionOf, newId, planFor, SUCCEEDED } from '../../testing/conformance/samples.ts'
import { claimStatement, claimValues } from './claim.ts'
import { expiredStatement, renewStatement } from './claims.ts'
import { dueStatement } from './planning.ts'
import { changeStatement, compareStatement, type Numbered, putValues } from './put-statements.ts'
import { recordStatement, recordValues } from './record.ts'
import { lockStatement } from './retract.ts'
import { againStatement, againValues, finalValues, finishStatement } from './settle.ts'
import { plain, type Statement, texts, type Value } from './statement.ts'
import { openPostgres, type PostgresStore } from './store.ts'

const SCHEMA = '"everytick"'
const SCHEDULES = 30_000
const DUE = 500
/** No more rows than a few per item of the batch may pass through any part of a plan. */
const BOUND = DUE * 4

const definition = definitionOf({ workspace: 'w', queue: 'q' })

let database: Database
let client: pg.Client
let store: PostgresStore
let granted: readonly Run[]

/** Schedules of which few are due, runs of which most are still to come, and one claimed batch. */
beforeAll(async () => {
  database = await createDatabase(inject('postgres'))
  store = await openPostgres({ url: database.url })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  // Small tables first: plans that are made now must still be good later.
  await client.query('vacuum analyze everytick.schedules, everytick.cursors, everytick.runs')
  await client.query(
    `insert into everytick.schedules
    select gen_random_uuid(), 'w', 'k' || n, 1, $1, 'noop', 'q', '{}', 5, $2, $3, '', '[]', 'null', 'api', now(), now()
    from generate_series(1, ${SCHEDULES}) n`,
    [definition.timing, definition.policy, definition.catchUp],
  )
  await client.query(`
    insert into everytick.cursors
    select id, everytick.now_at() + (case when substr(key, 2)::int <= ${DUE} then 0 else 1000 end) * interval '1 s',
      everytick.now_at() - interval '1 s', everytick.now_at() - interval '1 s', 1
    from everytick.schedules`)
  await fillQueue({ many: SCHEDULES, due: 2 * DUE })
  granted = (await store.claims.claim(claimOf(DUE))).runs
})

afterAll(async () => {
  await store.close()
  await client.end()
  await database.drop()
})

/** Pending runs of all priorities, the first of them due. */
async function fillQueue({ many, due }: { many: number; due: number }): Promise<void> {
  await client.query(`
    insert into everytick.runs
    select gen_random_uuid(), 'w', 'noop', 'q', 'pending', 'enqueue', n % 10, null, null, null, null, null,
      everytick.now_at() + (case when n <= ${due} then -1 else 1000 end) * interval '1 s', everytick.now_at(),
      '{}', '{}', 0, 0, null, null, null, false, null, null, null
    from generate_series(1, ${many}) n`)
}

const claimOf = (limit: number) => ({ workerId: 'w1', leaseMs: 60_000, wanted: [{ queue: 'q', limit }] })

const numbered = () => granted.map((run, n) => ({ id: run.id, fence: run.fence, workerId: 'w1', n }))

const puts = (): Numbered[] =>
  Array.from({ length: DUE }, (_, n) => {
    const changed = { ...definition, key: `k${n + 1}`, job: 'other' }
    return { n, put: { id: newId(), definition: changed, nextAt: null, watermarkAt: 0 } }
  })

const plans = async () => {
  const { schedules } = await store.planning.due({ lookaheadMs: 0, limit: DUE })
  return schedules.map((schedule) => planFor(schedule, 1))
}

const STATEMENTS: Record<string, () => Promise<readonly [Statement, Value[]]>> = {
  due: async () => [dueStatement(SCHEMA), [0, DUE]],
  record: async () => [recordStatement(SCHEMA, 'skip locked'), recordValues(await plans())],
  claim: async () => [claimStatement(SCHEMA), claimValues(claimOf(DUE))],
  renew: async () => {
    const [ids, fences] = [granted.map(({ id }) => id), granted.map(({ fence }) => fence)]
    return [renewStatement(SCHEMA), [plain(ids), plain(fences), texts(granted.map(() => null)), 60_000]]
  },
  finish: async () => {
    const verdict = SUCCEEDED as Extract<Verdict, { kind: 'final' }>
    return [finishStatement(SCHEMA), finalValues(numbered().map((one) => ({ ...one, verdict })))]
  },
  again: async () => {
    const verdict = againIn(0) as Extract<Verdict, { kind: 'again' }>
    return [againStatement(SCHEMA), againValues(numbered().map((one) => ({ ...one, verdict })))]
  },
  expired: async () => [expiredStatement(SCHEMA), [DUE]],
  lock: async () => {
    const keys = puts().map(({ put }) => put.definition)
    return [lockStatement(SCHEMA), [texts(keys.map(() => 'w')), texts(keys.map(({ key }) => key))]]
  },
  compare: async () => [compareStatement(SCHEMA), putValues(puts())],
  change: async () => [changeStatement(SCHEMA), putValues(puts())],
}

const planOf = async (name: string, mode: (typeof MODES)[number]): Promise<PlanNode[]> => {
  const [{ text }, values] = await STATEMENTS[name]!()
  return explain(client, { text, values, mode })
}

const indexesOf = (nodes: readonly PlanNode[], table: string): string[] =>
  nodes.flatMap((node) => node['Index Name'] ?? []).filter((index) => index.startsWith(table))

describe.each(MODES)('with %s', (mode) => {
  it.each(Object.keys(STATEMENTS))('%s reads what it is asked for and nothing else', async (name) => {
    const nodes = await planOf(name, mode)
    expect(readWhole(nodes)).toEqual([])
    expect(mostRows(nodes)).toBeLessThanOrEqual(BOUND)
  })

  it('due reads cursors by the index of those that have one', async () => {
    expect(new Set(indexesOf(await planOf('due', mode), 'cursors'))).toEqual(new Set(['cursors_due']))
  })

  it.each(['renew', 'finish', 'again'])('%s looks runs up by their ids', async (name) => {
    expect(new Set(indexesOf(await planOf(name, mode), 'runs'))).toEqual(new Set(['runs_pkey']))
  })

  it('claim finds runs by queue, priority and due time, and passes over those still to come', async () => {
    const nodes = await planOf('claim', mode)
    expect(new Set(indexesOf(nodes, 'runs'))).toEqual(new Set(['runs_pending']))
    expect(nodes.map((node) => node['Node Type'])).toContain('Tid Scan')
  })
})

describe('with statistics that lie', () => {
  it('claim and finish keep to their indexes when a full table was last seen empty', async () => {
    // Planned as if by a worker that started before the load came.
    await client.query(`update pg_class set reltuples = 0 where oid = 'everytick.runs'::regclass`)
    for (const name of ['claim', 'finish', 'renew', 'again']) {
      const nodes = await planOf(name, 'force_generic_plan')
      expect(readWhole(nodes)).toEqual([])
      expect(mostRows(nodes)).toBeLessThanOrEqual(BOUND)
    }
  })
})

describe('after many runs have finished', () => {
  it('a claim touches as few pages as before', async () => {
    const question = { text: claimStatement(SCHEMA).text, values: claimValues(claimOf(10)) }
    const before = pagesOf(await explain(client, question))
    for (let round = 0; round < 20; round += 1) {
      await fillQueue({ many: 1000, due: 1000 })
      const { runs } = await store.claims.claim(claimOf(1000))
      await store.claims.settle(runs.map(({ id, fence }) => ({ id, fence, workerId: 'w1', verdict: SUCCEEDED })))
    }
    await client.query('vacuum everytick.runs')
    expect(pagesOf(await explain(client, question))).toBeLessThanOrEqual(2 * before)
  })
})
