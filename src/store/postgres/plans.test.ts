/** Holds the plans of the statements on the working path: whatever the tables have grown to, only what is asked for is read. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  explain,
  explainKept,
  foreseenCost,
  keepPlan,
  MODES,
  mostRows,
  type PlanNode,
  pagesOf,
  readWhole,
} from '../../../test/postgres/explain.ts'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import type { GroupMove } from '../../plan/overlap.ts'
import type { Run } from '../../run/run.ts'
import type { Verdict } from '../../run/settle.ts'
import { againIn, definitionOf, newId, planFor, SUCCEEDED } from '../../testing/conformance/samples.ts'
import { begunStatement, begunValues } from './begun.ts'
import { uuids } from './bytes.ts'
import { claimStatement, numbered as numberedRequest, oldestValues } from './claim.ts'
import { fairStatement, fairValues } from './claim-fair.ts'
import { scanStatement as scanLimits } from './claim-limited.ts'
import { expiredStatement, handOverStatement, renewStatement } from './claims.ts'
import { KEEP_PLANS } from './connection.ts'
import { backlogInShardStatement, backlogStatement, dueInShardStatement, dueStatement, pageStatement } from './due.ts'
import { moveStatement, moveValues } from './group-moves.ts'
import { groupScanStatement, scanStatement } from './groups.ts'
import { nonRunsStatement, slotsStatement } from './ledger.ts'
import { type Numbered, putValues } from './put-list.ts'
import { changeStatement, compareStatement, createStatement, freshStatement } from './put-statements.ts'
import { simpleStatement, simpleValues } from './record-simple.ts'
import { recordStatement, recordValues } from './record-statement.ts'
import { lockStatement } from './retract.ts'
import { finalValues, finishStatement, retryVerdictStatement, retryVerdictValues } from './settle.ts'
import { finishUniformStatement, uniformValues } from './settle-uniform.ts'
import { plain, type Statement, texts, type Value } from './statement.ts'
import { openPostgres, type PostgresStore } from './store.ts'

const SCHEMA = '"everytick"'
const SCHEDULES = 30_000
const DUE = 500
const GROUPS = 2000
/** No more rows than a few per item of the batch may pass through any part of a plan. */
const BOUND = DUE * 4

const definition = definitionOf({ workspace: 'w', queue: 'q' })

let database: Database
let client: pg.Client
let store: PostgresStore
let granted: readonly Run[] = []
/** A connection as our own hot ones are, which made its plans when the tables were empty and has kept them. */
let early: pg.Client

/** Schedules of which few are due, runs of which most are still to come, and one claimed batch. */
beforeAll(async () => {
  database = await createReadyDatabase()
  store = await openPostgres({ url: database.url })
  client = new pg.Client({ connectionString: database.url })
  early = new pg.Client({ connectionString: database.url })
  await client.connect()
  await early.connect()
  // Tables of no pages first, the worst that a plan can be made for: those that are made now must still be good later.
  await client.query(
    'vacuum analyze everytick.schedules, everytick.cursors, everytick.runs, everytick.leases, everytick.non_runs',
  )
  await early.query(KEEP_PLANS)
  for (const [name, statement] of Object.entries(STATEMENTS))
    await keepPlan(early, { name: keptName(name), text: (await statement())[0].text })
  await client.query(
    `insert into everytick.schedules
    select gen_random_uuid(), 'w', 'k' || n, 1, $1, 'noop', 'q', '{}', 5, $2, $3, '', '[]', 'null', 'api', now(), now(),
      null, null, $4, 'api', 'api', now()
    from generate_series(1, ${SCHEDULES}) n`,
    [definition.timing, definition.policy, definition.catchUp, definition.firing],
  )
  await client.query(`
    insert into everytick.cursors
    select id, everytick.now_at() + (case when substr(key, 2)::int <= ${DUE} then 0 else 1000 end) * interval '1 s',
      everytick.now_at() - interval '1 s', everytick.now_at() - interval '1 s', 1
    from everytick.schedules`)
  await fillQueue({ many: SCHEDULES, due: 2 * DUE })
  await client.query(`
    insert into everytick.non_runs
    select id, now(), now(), 1, 'skipped', 'paused', now(), '' from everytick.schedules limit 5000`)
  await client.query(`
    insert into everytick.leases (check_at, ids) select now() + interval '1 hour', '{}' from generate_series(1, 5000)`)
  await fillFair()
  await fillGroups()
  granted = (await store.claims.claim(claimOf(DUE))).runs
}, 60_000)

afterAll(async () => {
  await store.close()
  await client.end()
  await early.end()
  await database.drop()
})

const keptName = (name: string): string => `"${name}"`

/** Pending runs of all priorities, the first of them due. */
async function fillQueue({ many, due }: { many: number; due: number }): Promise<void> {
  await client.query(`
    insert into everytick.runs
    select gen_random_uuid(), 'w', 'noop', 'q', 'pending', 'enqueue', n % 10, null, null, null, null, null,
      everytick.now_at() + (case when n <= ${due} then -1 else 1000 end) * interval '1 s', everytick.now_at(),
      '{}', '{}', 0, 0, null, null, null, false, null, null, null
    from generate_series(1, ${many}) n`)
}

/** One workspace with a long backlog, those with one due run, and many that have none yet. */
async function fillFair(): Promise<void> {
  await client.query(`
    insert into everytick.runs
    select gen_random_uuid(), case when n <= 3000 then 'm-big' when n <= 3050 then 'x-' || n else 'a-' || n end, 'noop', 'turns',
      'pending', 'enqueue', n % 3, null, null, null, null, null,
      everytick.now_at() + (case when n <= 3050 then -1 else 1000 end) * interval '1 s', everytick.now_at(),
      '{}', '{}', 0, 0, null, null, null, false, null, null, null
    from generate_series(1, 6000) n`)
}

/** Concurrency groups whose next run is still to come; a few in which one came due behind another; a few that nobody is open in. */
async function fillGroups(): Promise<void> {
  await client.query(`
    insert into everytick.runs
    select gen_random_uuid(), 'w', 'noop', 'concurrency_groups', 'pending', 'enqueue', 5, null, null, null, null, null,
      everytick.now_at() + (case when n <= 50 then -1 else 1000 end) * interval '1 s', everytick.now_at(),
      '{}', '{}', 0, 0, null, null, null, false, null, null, null, 'concurrency_group' || n, 'queue', readiness
    from generate_series(1, ${GROUPS}) n cross join (values ('ready'), ('undecided'), ('undecided')) as g (readiness)
    where readiness <> 'ready' or n not between ${GROUPS - 20} and ${GROUPS}`)
}

const claimOf = (limit: number) => ({ workerId: 'w1', leaseMs: 60_000, wanted: [{ queue: 'q', limit }] })

const numbered = () =>
  granted.map((run, n) => ({ id: run.id, fence: run.fence, claimId: run.claimId, workerId: 'w1', n }))
const claims = () => plain(granted.map(({ claimId }) => claimId))

const puts = (): Numbered[] =>
  Array.from({ length: DUE }, (_, n) => {
    const changed = { ...definition, key: `k${n + 1}`, job: 'other' }
    return { n, put: { id: newId(), definition: changed, nextAt: null, watermarkAt: 0, from: 1, by: 'api' } }
  })

const fairOf = (limit: number, lastWorkspace?: string) => ({
  ...claimOf(limit),
  wanted: [{ queue: 'turns', limit, fair: true, ...(lastWorkspace === undefined ? {} : { lastWorkspace }) }],
})

const groupNames = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => `concurrency_group${from + n}`)

const movesIn = async (of: readonly string[]): Promise<GroupMove[][]> => {
  const { groups } = await store.groups.look({ of, limit: of.length })
  return groups.map(({ runs }) => {
    const [open, ...line] = runs.map(({ id }) => id)
    return line.map((id, n): GroupMove => (n === 0 ? { kind: 'block', id } : { kind: 'skip', id, behind: open! }))
  })
}

const plans = async () => {
  const { schedules } = await store.planning.due({ lookaheadMs: 0, limit: DUE })
  return schedules.map((schedule) => planFor(schedule, 1))
}

const STATEMENTS: Record<string, () => Promise<readonly [Statement, Value[]]>> = {
  due: async () => [dueStatement(SCHEMA), [0, null, DUE]],
  'due in a shard': async () => [dueInShardStatement(SCHEMA), [0, null, DUE, uuids([]), 2, 1]],
  'a crowd': async () => [backlogStatement(SCHEMA), [0, null, DUE, uuids([])]],
  'a crowd in a shard': async () => [backlogInShardStatement(SCHEMA), [0, null, DUE, uuids([]), 2, 1]],
  'a page of a crowd': async () => {
    const { rows } = await client.query<{ place: string }>(
      `select ctid as place from everytick.cursors where next_at <= now() order by next_at limit ${DUE}`,
    )
    return [pageStatement(SCHEMA), [0, null, texts(rows.map(({ place }) => place))]]
  },
  record: async () => [recordStatement(SCHEMA, 'skip locked'), recordValues(await plans())],
  'record of the usual plans': async () => [
    simpleStatement(SCHEMA, 200),
    simpleValues(await plans(), { take: () => undefined }),
  ],
  claim: async () => [claimStatement(SCHEMA), oldestValues(numberedRequest(claimOf(DUE)))],
  renew: async () => {
    const [ids, fences] = [granted.map(({ id }) => id), granted.map(({ fence }) => fence)]
    return [renewStatement(SCHEMA), [plain(ids), plain(fences), claims(), texts(granted.map(() => null)), 60_000]]
  },
  'hand over': async () => {
    const [ids, fences] = [granted.map(({ id }) => id), granted.map(({ fence }) => fence)]
    return [handOverStatement(SCHEMA), [plain(ids), plain(fences), claims(), 60_000]]
  },
  finish: async () => {
    const verdict = SUCCEEDED as Extract<Verdict, { kind: 'final' }>
    return [finishStatement(SCHEMA), finalValues(numbered().map((one) => ({ ...one, verdict })))]
  },
  'finish alike': async () => [
    finishUniformStatement(SCHEMA),
    uniformValues(numbered().map((one) => ({ ...one, fence: 1, verdict: SUCCEEDED })))!,
  ],
  retry: async () => {
    const verdict = againIn(0) as Extract<Verdict, { kind: 'retry' }>
    return [retryVerdictStatement(SCHEMA), retryVerdictValues(numbered().map((one) => ({ ...one, verdict })))]
  },
  turns: async () => [fairStatement(SCHEMA), fairValues(numberedRequest(fairOf(100)))],
  'turns after one': async () => [fairStatement(SCHEMA), fairValues(numberedRequest(fairOf(100, 'm-big')))],
  'turns under limits': async () => {
    const [wanted] = numberedRequest(fairOf(100)).wanted
    const limited = { ...wanted!, perWorkspace: 3, running: { 'm-big': 3, 'x-3001': 1 } }
    return [fairStatement(SCHEMA, 'held'), fairValues({ ...fairOf(0), wanted: [limited] })]
  },
  'a look at limits': async () => [scanLimits(SCHEMA), [texts(['q', 'turns', 'limited'])]],
  'a look at concurrency_groups': async () => [scanStatement(SCHEMA), ['', 10]],
  'a look at concurrency_groups from the middle': async () => [scanStatement(SCHEMA), ['lane15', 10]],
  'a look at these concurrency_groups': async () => [groupScanStatement(SCHEMA), [texts(groupNames(1, 100)), 10]],
  moves: async () => [moveStatement(SCHEMA), moveValues(await movesIn(groupNames(1, 50)))],
  'how many began': async () => [
    begunStatement(SCHEMA),
    begunValues(granted.slice(0, 3).map(({ claimId }) => ({ claimId: claimId!, count: 2 }))),
  ],
  slots: async () => [slotsStatement(SCHEMA), [newId(), 0, 4e12, DUE]],
  'non-runs': async () => [nonRunsStatement(SCHEMA), [newId(), 0, 4e12]],
  expired: async () => [expiredStatement(SCHEMA), [DUE]],
  lock: async () => {
    const keys = puts().map(({ put }) => put.definition)
    return [lockStatement(SCHEMA), [texts(keys.map(() => 'w')), texts(keys.map(({ key }) => key))]]
  },
  fresh: async () => [freshStatement(SCHEMA), putValues(puts(), 'bytes')],
  create: async () => [createStatement(SCHEMA), putValues(puts())],
  compare: async () => [compareStatement(SCHEMA), putValues(puts())],
  change: async () => [changeStatement(SCHEMA), putValues(puts())],
}

const planOf = async (name: string, mode: (typeof MODES)[number]): Promise<PlanNode[]> => {
  const [{ text }, values] = await STATEMENTS[name]!()
  return explain(client, { text, values, mode })
}

/** From which on a server with a compiler uses it, unless it was told otherwise. */
const COMPILED_FROM = 100_000
/** These are rare, and depend on it that connections of our own compile nothing. */
const RARE = ['record', 'finish', 'retry', 'moves', 'change']
const isFrequent = (name: string): boolean => !RARE.includes(name)

/** A list of queues is short, and read once for all runs of a statement. */
const isLong = (table: string): boolean => table !== 'shared_queues'

const indexesOf = (nodes: readonly PlanNode[], table: string): string[] =>
  nodes.flatMap((node) => node['Index Name'] ?? []).filter((index) => index.startsWith(table))

describe.each(MODES)('with %s', (mode) => {
  it.each(Object.keys(STATEMENTS))('%s reads what it is asked for and nothing else', async (name) => {
    const nodes = await planOf(name, mode)
    expect(readWhole(nodes).filter(isLong)).toEqual([])
    expect(mostRows(nodes)).toBeLessThanOrEqual(BOUND)
  })

  it.each(Object.keys(STATEMENTS).filter(isFrequent))(
    '%s is never worth compiling, whatever is stored',
    async (name) => {
      const [{ text }, values] = await STATEMENTS[name]!()
      expect(await foreseenCost(client, { text, values, mode }, 10_000_000)).toBeLessThan(COMPILED_FROM)
    },
  )

  it.each(['due', 'due in a shard', 'a crowd', 'a crowd in a shard', 'a page of a crowd'])(
    '%s reads cursors by the index of those that have one',
    async (name) => {
      expect(new Set(indexesOf(await planOf(name, mode), 'cursors'))).toEqual(new Set(['cursors_due']))
    },
  )

  it.each(['a page of a crowd', 'record of the usual plans'])('%s finds cursors by their places', async (name) => {
    const scans = (await planOf(name, mode)).filter((node) => node['Node Type'] === 'Tid Scan')
    expect(scans.map((node) => node['Relation Name'])).toContain('cursors')
  })

  it.each(['renew', 'finish', 'finish alike', 'retry', 'expired'])('%s looks runs up by their ids', async (name) => {
    expect(new Set(indexesOf(await planOf(name, mode), 'runs'))).toEqual(new Set(['runs_pkey']))
  })

  it.each([
    ['turns', ['runs_fair', 'runs_pending']],
    ['turns after one', ['runs_fair', 'runs_pending']],
    ['a look at limits', ['runs_index_excluded', 'runs_pending']],
    ['a look at concurrency_groups', ['runs_blocked', 'runs_group', 'runs_undecided']],
    ['a look at these concurrency_groups', ['runs_blocked', 'runs_group']],
    ['moves', ['runs_group', 'runs_pkey']],
    ['slots', ['runs_backfill', 'runs_occurrence']],
  ])('%s finds runs by %s', async (name, indexes) => {
    expect([...new Set(indexesOf(await planOf(name, mode), 'runs'))].sort()).toEqual(indexes)
  })

  it('claim finds runs by queue, priority and due time, and passes over those still to come', async () => {
    const nodes = await planOf('claim', mode)
    expect(new Set(indexesOf(nodes, 'runs'))).toEqual(new Set(['runs_pending']))
    expect(nodes.map((node) => node['Node Type'])).toContain('Tid Scan')
  })
})

describe('planned while all tables were empty', () => {
  it.each(Object.keys(STATEMENTS))(
    '%s reads what it is asked for and nothing else when there is much',
    async (name) => {
      const [, values] = await STATEMENTS[name]!()
      const nodes = await explainKept(early, { name: keptName(name), values })
      expect(readWhole(nodes).filter(isLong)).toEqual([])
      expect(mostRows(nodes)).toBeLessThanOrEqual(BOUND)
    },
  )
})

describe('while others write the same runs', () => {
  it('no statement reads its list of ids again for each of them', async () => {
    for (const [name, statement] of Object.entries(STATEMENTS)) {
      const [{ text }] = await statement()
      expect([name, text.match(/= any\(\$\d+::text::uuid\[\]\)/g)]).toEqual([name, null])
    }
  })

  it('runs that are being renewed are ended as quickly as others, when the renewal is over', async () => {
    await fillQueue({ many: DUE, due: DUE })
    const { runs } = await store.claims.claim(claimOf(DUE))
    const [renew, values] = [
      renewStatement(SCHEMA).text,
      [
        plain(runs.map(({ id }) => id)),
        plain(runs.map(({ fence }) => fence)),
        plain(runs.map(({ claimId }) => claimId)),
      ],
    ]
    await client.query('begin')
    await client.query(renew, [...values, texts(runs.map(() => null)), 60_000])
    const settled = store.claims.settle(
      runs.map(({ id, fence, claimId }) => ({ id, fence, claimId, workerId: 'w1', verdict: SUCCEEDED })),
    )
    const isWaiting = async (): Promise<boolean> => {
      // Within a transaction the server answers what it answered before.
      await client.query('select pg_stat_clear_snapshot()')
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return (await client.query(waiting)).rows.length > 0
    }
    await expect.poll(isWaiting).toBe(true)
    await client.query('commit')
    expect(new Set(await settled)).toEqual(new Set(['accepted']))
  })
})

describe('planned while a table that is full was last seen empty', () => {
  /** As if by a worker that connects after a backlog was worked off, of which statistics remain, and before the next one. */
  const LAST_SEEN = [
    ['of no pages', 'relpages = 0'],
    ['with its pages', 'relpages = pg_relation_size(oid) / 8192'],
  ] as const

  it.each(LAST_SEEN)('%s, statements read what they are asked for and nothing else', async (_, pages) => {
    const hot = new pg.Client({ connectionString: database.url })
    await hot.connect()
    try {
      await hot.query('vacuum analyze everytick.runs')
      await hot.query(KEEP_PLANS)
      await hot.query(`update pg_class set reltuples = 0, ${pages} where oid = 'everytick.runs'::regclass`)
      for (const [name, statement] of Object.entries(STATEMENTS)) {
        const [{ text }, values] = await statement()
        const nodes = await explain(hot, { text, values })
        expect([name, ...readWhole(nodes).filter(isLong)]).toEqual([name])
        expect(mostRows(nodes), name).toBeLessThanOrEqual(BOUND)
      }
    } finally {
      await hot.end()
      await client.query('analyze everytick.runs')
    }
  })
})

describe('after many runs have finished', () => {
  it('a claim touches as few pages as before', async () => {
    const question = { text: claimStatement(SCHEMA).text, values: oldestValues(numberedRequest(claimOf(10))) }
    const before = pagesOf(await explain(client, question))
    for (let round = 0; round < 20; round += 1) {
      await fillQueue({ many: 1000, due: 1000 })
      const { runs } = await store.claims.claim(claimOf(1000))
      await store.claims.settle(
        runs.map(({ id, fence, claimId }) => ({ id, fence, claimId, workerId: 'w1', verdict: SUCCEEDED })),
      )
    }
    await client.query('vacuum everytick.runs')
    expect(pagesOf(await explain(client, question))).toBeLessThanOrEqual(2 * before)
  })
})
