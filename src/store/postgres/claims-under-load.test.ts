/** What the third schema relies on: claims that touch no index, leases found through the rows that claims leave, turns that begin when a queue is shared. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { newRun, SUCCEEDED } from '../../testing/conformance/samples.ts'
import { openPostgres, type PostgresStore } from './store.ts'

const DAY_MS = 86_400_000
const RETENTION = {
  historyMs: DAY_MS,
  journalMs: DAY_MS,
  idempotencyMs: DAY_MS,
  workersMs: DAY_MS,
  orphansMs: DAY_MS,
  endedMs: null,
}

let database: Database
let store: PostgresStore
let client: pg.Client
let queue: string
let queues = 0

beforeAll(async () => {
  database = await createReadyDatabase()
  store = await openPostgres({ url: database.url, listen: false })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await store.close()
  await client.end()
  await database.drop()
})

beforeEach(async () => {
  await client.query('truncate everytick.runs, everytick.leases, everytick.history')
  // What a store knows of a queue it knows for good.
  queue = `queue-${++queues}`
})

const ask = async <Row>(sql: string): Promise<Row[]> => (await client.query(sql)).rows as Row[]
const count = async (sql: string): Promise<number> =>
  Number((await ask<{ n: string }>(`select count(*) as n ${sql}`))[0]!.n)
const enqueue = (many: number, about: Parameters<typeof newRun>[0] = {}) =>
  store.runs.enqueue(Array.from({ length: many }, () => newRun({ queue, ...about })))
const claim = async (limit: number, about: { leaseMs?: number; fair?: boolean; of?: PostgresStore } = {}) => {
  const { leaseMs = 60_000, fair = false, of = store } = about
  return (await of.claims.claim({ workerId: 'w', leaseMs, wanted: [{ queue, limit, fair }] })).runs
}
const leasedRuns = (runs: readonly { id: string; fence: number; claimId: string | null }[]) =>
  runs.map(({ id, fence, claimId }) => ({ id, fence, claimId, progress: null }))
const settle = (runs: readonly { id: string; fence: number; claimId: string | null }[]) =>
  store.claims.settle(runs.map(({ id, fence, claimId }) => ({ id, fence, claimId, workerId: 'w', verdict: SUCCEEDED })))

/** What was waiting takes part soon after its queue is shared. */
const allInTurn = () =>
  expect.poll(() => count(`from everytick.runs where not in_fair_share and state = 'pending'`)).toBe(0)

describe('a claim of very many', () => {
  it('passes over what another holds, and finds it when that one is done, also behind an old snapshot', async () => {
    const [leased] = await enqueue(1)
    await enqueue(3100)
    const old = new pg.Client({ connectionString: database.url })
    await old.connect()
    await old.query('begin isolation level repeatable read')
    // Only who has a number of its own counts as in flight.
    await old.query('select pg_current_xact_id()')
    await client.query('begin')
    await client.query(`select from everytick.runs where id = '${leased!.id}' for update`)
    const ids = async () => (await claim(1000)).map(({ id }) => id)
    const beside = [...(await ids()), ...(await ids())]
    await client.query('rollback')
    const after = [await ids(), await ids(), await ids()]
    await old.query('rollback')
    await old.end()
    expect(beside).toHaveLength(2000)
    expect(beside).not.toContain(leased!.id)
    // Passed over once more, as the snapshot makes it look; short then, and so looked for closely.
    expect(after.map((list) => [list.length, list.includes(leased!.id)])).toEqual([
      [1000, false],
      [100, false],
      [1, true],
    ])
  })

  it('finds at once what was held by one that is done', async () => {
    const [leased] = await enqueue(1)
    await enqueue(3100)
    await client.query('begin')
    await client.query(`select from everytick.runs where id = '${leased!.id}' for update`)
    const [{ me }] = (await ask<{ me: string }>('select pg_current_xact_id()::text as me')) as [{ me: string }]
    await claim(1000)
    await client.query('rollback')
    // Others on this server may have begun before, and not be done yet.
    const done = `from (select pg_current_snapshot() as seen) s where pg_snapshot_xmin(seen) > '${me}'::xid8`
    await expect.poll(() => count(done)).toBe(1)
    expect((await claim(1000)).map(({ id }) => id)).toContain(leased!.id)
  })
})

describe('while somebody holds an old snapshot, and very many runs have passed', () => {
  it('begins a claim further on, and says when it must look from the beginning', async () => {
    const weary = await openPostgres({ url: database.url, listen: false })
    const old = new pg.Client({ connectionString: database.url })
    await old.connect()
    await old.query('begin isolation level repeatable read; select count(*) from everytick.workers')
    await client.query(`insert into everytick.runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at,
        payload, policy, attempt, fence, cancel_requested)
      select gen_random_uuid(), 'default', 'passed', '${queue}', 'pending', 'enqueue', 5, everytick.now_at(), everytick.now_at(),
        'null', '{}', 0, 0, false from generate_series(1, 50000)`)
    await client.query('delete from everytick.runs')
    const asked = { workerId: 'w', leaseMs: 60_000, wanted: [{ queue, limit: 10, fair: false }] }
    const backInMs = async () => {
      const { now, nextDueAt } = await weary.claims.claim(asked)
      return nextDueAt === null ? null : nextDueAt - now
    }
    const first = await backInMs()
    await expect.poll(backInMs).toBeLessThanOrEqual(200)
    const [below] = await enqueue(1, { due: { at: 1000 } })
    await expect.poll(async () => (await claim(10, { of: weary })).map(({ id }) => id)).toEqual([below!.id])
    await old.end()
    await weary.close()
    expect(first).toBeNull()
  })
})

describe('a grant', () => {
  it('writes no index: the new version of the run stays on its page', async () => {
    await enqueue(500)
    const updates = async () => {
      await client.query('select pg_stat_force_next_flush()').catch(() => {})
      const sql = `select pg_stat_get_xact_tuples_hot_updated(c) as hot, pg_stat_get_xact_tuples_updated(c) as n
        from (select 'everytick.runs'::regclass::oid as c) t`
      return (await ask<{ hot: string; n: string }>(sql))[0]!
    }
    await client.query('begin')
    await client.query(`update everytick.runs set state = 'running', attempt = 1, fence = 1, worker_id = 'w',
      lease_until = now(), started_at = now()`)
    const { hot, n } = await updates()
    await client.query('rollback')
    expect(Number(n)).toBe(500)
    expect(Number(hot)).toBeGreaterThan(450)
  })

  it('is told in full though most of it is what grants usually are', async () => {
    const usual = newRun({ queue })
    const other = newRun({ queue, payload: { a: null }, idempotencyKey: 'k', trigger: 'manual' })
    const policy = { retry: { attempts: 9, backoff: 'fixed', baseMs: 1, maxMs: 1 }, timeoutMs: 5 } as const
    const own = newRun({ queue, policy, due: { at: 1000 }, payload: null })
    await store.runs.enqueue([usual, other, own])
    await claim(3)
    await client.query(`update everytick.runs set state = 'pending', fence = 7, attempt = 2, worker_id = null,
      lease_until = null, started_at = null, progress = '{"fraction":0.5}' where id = '${other.id}'`)
    await client.query(`update everytick.runs set state = 'pending', worker_id = null, lease_until = null, cancel_requested = true
      where id = '${own.id}'`)
    const told = new Map((await claim(3)).map((run) => [run.id, run]))
    expect(told.get(other.id)).toMatchObject({
      ...{ attempt: 3, fence: 8, payload: { a: null }, idempotencyKey: 'k', trigger: 'manual' },
      ...{ progress: { fraction: 0.5 }, cancelRequested: false, policy: other.policy },
    })
    expect(told.get(own.id)).toMatchObject({
      attempt: 2,
      fence: 2,
      cancelRequested: true,
      dueAt: 1000,
      payload: null,
      policy,
    })
    expect(told.get(own.id)!.createdAt).toBeGreaterThan(1000)
    await store.runs.enqueue([newRun({ queue })])
    const [last] = await claim(1)
    expect(last).toMatchObject({ attempt: 1, fence: 1, cancelRequested: false, overlap: 'allow', policy: usual.policy })
    expect(last!.createdAt).toBe(last!.dueAt)
  })

  it('leaves one row that says when to look after all of its runs', async () => {
    await enqueue(20)
    const runs = await claim(20)
    const [lease, ...others] = await ask<{ ids: string[]; check_at: Date }>(
      'select ids, check_at from everytick.leases',
    )
    expect(others).toEqual([])
    expect(lease!.ids.sort()).toEqual(runs.map(({ id }) => id).sort())
    expect(lease!.check_at.getTime()).toBe(runs[0]!.leaseUntil)
  })

  it('that finds nothing leaves nothing', async () => {
    expect(await claim(20)).toEqual([])
    expect(await count('from everytick.leases')).toBe(0)
  })

  it('leaves the index of the queue when it is renewed, and comes back when it is returned', async () => {
    await enqueue(2)
    const [first, second] = await claim(2)
    await store.claims.renew(60_000, leasedRuns([first!]))
    expect(await ask('select id from everytick.runs where index_excluded')).toEqual([{ id: first!.id }])
    const verdict = { kind: 'retry', delayMs: 0, reason: 'released', counts: false, error: null } as const
    await store.claims.settle(
      [first!, second!].map(({ id, fence, claimId }) => ({ id, fence, claimId, workerId: 'w', verdict })),
    )
    expect(await count('from everytick.runs where index_excluded')).toBe(0)
    expect((await claim(2)).map(({ id }) => id).sort()).toEqual([first!.id, second!.id].sort())
  })
})

describe('the look for leases that have ended', () => {
  it('forgets what has ended, and looks again at what was renewed when that ends', async () => {
    await enqueue(3)
    const runs = await claim(3, { leaseMs: 0 })
    const [ended, renewed, lost] = runs
    await settle([ended!])
    await store.claims.renew(60_000, leasedRuns([renewed!]))
    expect((await store.claims.expired(10)).map(({ id }) => id)).toEqual([lost!.id])
    // Nobody has settled it: it is told again.
    expect((await store.claims.expired(10)).map(({ id }) => id)).toEqual([lost!.id])
    await settle([lost!])
    expect(await store.claims.expired(10)).toEqual([])
    const [lease] = await ask<{ ids: string[]; soon: boolean }>(
      `select ids, check_at < now() + interval '50 seconds' as soon from everytick.leases`,
    )
    expect(lease!.ids).toContain(renewed!.id)
    expect(lease!.soon).toBe(false)
    await settle([renewed!])
    await client.query(`update everytick.leases set check_at = now() - interval '1 second'`)
    expect(await store.claims.expired(10)).toEqual([])
    expect(await count('from everytick.leases')).toBe(0)
  })

  it('finds a run whose grant nobody ever heard of, and a run that was granted twice only once', async () => {
    await enqueue(1)
    const [first] = await claim(1, { leaseMs: 0 })
    const verdict = { kind: 'retry', delayMs: 0, reason: 'lost', counts: true, error: null } as const
    await store.claims.settle([
      { id: first!.id, fence: first!.fence, claimId: first!.claimId, workerId: 'reaper', verdict, onlyExpired: true },
    ])
    const [second] = await claim(1, { leaseMs: 0 })
    expect(second).toMatchObject({ id: first!.id, fence: 2 })
    expect((await store.claims.expired(10)).map(({ id, fence }) => [id, fence])).toEqual([[first!.id, 2]])
  })
})

describe('upkeep', () => {
  it('puts back under watch what nobody would find, and leaves alone what somebody does', async () => {
    await enqueue(3)
    const [lost, leased] = await claim(2)
    await client.query('delete from everytick.leases')
    await client.query(`update everytick.runs set lease_until = now() - interval '2 minutes' where id = '${lost!.id}'`)
    expect(await store.claims.expired(10)).toEqual([])
    await store.upkeep.tidy(RETENTION)
    expect((await store.claims.expired(10)).map(({ id }) => id)).toEqual([lost!.id])
    expect(await claim(3)).toHaveLength(1)
    expect(await settle([leased!])).toEqual(['accepted'])
  })
})

describe('a queue', () => {
  it('that only the default workspace uses keeps no turns', async () => {
    await enqueue(5)
    expect(await count('from everytick.runs where in_fair_share')).toBe(0)
    expect(await count(`from everytick.shared_queues where name = '${queue}'`)).toBe(0)
  })

  it('is shared from the first run of another workspace on, and what waits takes part', async () => {
    await enqueue(5)
    await enqueue(2, { workspace: 'acme' })
    await enqueue(1)
    expect(await ask(`select name from everytick.shared_queues where name = '${queue}'`)).toHaveLength(1)
    await allInTurn()
    expect((await claim(4, { fair: true })).map(({ workspace }) => workspace).sort()).toEqual([
      ...['acme', 'acme', 'default', 'default'],
    ])
  })

  it('is known as shared to another process after its next claim in the usual order', async () => {
    const other = await openPostgres({ url: database.url, listen: false })
    try {
      await enqueue(200)
      expect(await claim(1, { fair: true, of: other })).toHaveLength(1)
      await enqueue(2, { workspace: 'acme' })
      // Meanwhile they are held, and a claim passes over them.
      await allInTurn()
      await claim(1, { of: other })
      const workspaces = (await claim(4, { fair: true, of: other })).map(({ workspace }) => workspace)
      expect(workspaces.filter((name) => name === 'acme')).toHaveLength(2)
    } finally {
      await other.close()
    }
  })

  it('mends a run that came while it was being shared, and grants it with the next claim', async () => {
    await enqueue(3)
    await client.query(`insert into everytick.shared_queues values ('${queue}')`)
    const other = await openPostgres({ url: database.url, listen: false })
    try {
      expect(await claim(3, { fair: true, of: other })).toEqual([])
      expect(await count(`from everytick.runs where not in_fair_share and state = 'pending'`)).toBe(0)
      expect(await claim(3, { fair: true, of: other })).toHaveLength(3)
    } finally {
      await other.close()
    }
  })

  it('that gets limits counts what already runs', async () => {
    await enqueue(3)
    await claim(2)
    await store.queues.configure([{ name: queue, limits: { globalConcurrency: 2 } }])
    expect(await claim(1)).toEqual([])
    await store.queues.configure([{ name: queue, limits: {} }])
  })
})
