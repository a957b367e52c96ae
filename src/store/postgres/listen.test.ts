import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createDatabase, type Database } from '../../../test/postgres/launcher.ts'
import { newRun } from '../../testing/conformance/samples.ts'
import type { Hint } from '../contract/wake.ts'
import { openPostgres, type PostgresStore } from './store.ts'

let database: Database
let client: pg.Client
let store: PostgresStore
let other: PostgresStore

beforeAll(async () => {
  database = await createDatabase(inject('postgres'))
  store = await openPostgres({ url: database.url })
  other = await openPostgres({ url: database.url, listen: false })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await Promise.all([store.close(), other.close(), client.end()])
  await database.drop()
})

const run = (queue: string) => newRun({ queue })

/** All hints so far, and a promise of the first that fits. */
async function listening() {
  const heard: Hint[] = []
  const waiting: { fits: (hint: Hint) => boolean; resolve: () => void }[] = []
  const stop = await store.wake.listen((hint) => {
    heard.push(hint)
    for (const { fits, resolve } of waiting) if (fits(hint)) resolve()
  })
  const until = (fits: (hint: Hint) => boolean) => new Promise<void>((resolve) => waiting.push({ fits, resolve }))
  return { heard, until, stop }
}

const ofQueue = (queue: string) => (hint: Hint) => hint.kind === 'runs' && hint.queues.includes(queue)

it('says what happened in this process at once, and only once', async () => {
  const { heard, until, stop } = await listening()
  await store.runs.enqueue([run('ours')])
  expect(heard).toEqual([{ kind: 'runs', queues: ['ours'] }])
  // Messages keep their order: when theirs is there, an echo of ours would have been.
  const theirs = until(ofQueue('theirs'))
  await other.runs.enqueue([run('theirs')])
  await theirs
  expect(heard.filter(ofQueue('ours'))).toHaveLength(1)
  await stop()
})

it('says what a caller’s transaction did when it commits, and nothing when it rolls back', async () => {
  const { heard, until, stop } = await listening()
  const committed = until(ofQueue('kept'))
  for (const [queue, end] of [
    ['undone', 'rollback'],
    ['kept', 'commit'],
  ] as const) {
    await client.query('begin')
    await store.runs.enqueue([run(queue)], client)
    expect(heard).toEqual([])
    await client.query(end)
  }
  await committed
  expect(heard).toEqual([{ kind: 'runs', queues: ['kept'] }])
  await stop()
})

it('listens again after its connection was killed, and then tells to look at everything', async () => {
  const { until, stop } = await listening()
  const all = until(({ kind }) => kind === 'all')
  const killed = await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'everytick listen'`,
  )
  expect(killed.rowCount).toBe(1)
  await all
  expect(store.wake.hears!()).toBe(true)
  const heard = until(ofQueue('later'))
  await other.runs.enqueue([run('later')])
  await heard
  await stop()
})

it('is not taken in by what somebody else says on its channel', async () => {
  const { heard, until, stop } = await listening()
  for (const words of ['', 'null', '5', '{}', '{"hint":null}', '{"from":"x"', 'hello'])
    await client.query('select pg_notify($1, $2)', ['everytick_wake', words])
  const last = until(ofQueue('last'))
  await other.runs.enqueue([run('last')])
  await last
  expect(heard).toEqual([{ kind: 'runs', queues: ['last'] }])
  await stop()
})

it('tells to look at everything when a message would be too long', async () => {
  const { until, stop } = await listening()
  const all = until(({ kind }) => kind === 'all')
  await other.runs.enqueue(Array.from({ length: 100 }, (_, i) => run(`${i}`.padEnd(200, 'q'))))
  await all
  await stop()
})

it('has hints from its own process alone where it does not listen', async () => {
  const heard: Hint[] = []
  const stop = await other.wake.listen((hint) => heard.push(hint))
  await other.runs.enqueue([run('own')])
  expect(heard).toEqual([{ kind: 'runs', queues: ['own'] }])
  await stop()
})

it('knows whether it hears others', async () => {
  const deaf = await openPostgres({ url: database.url, listen: false, migrate: false })
  const fresh = await openPostgres({ url: database.url, migrate: false })
  expect([deaf.wake.hears!(), fresh.wake.hears!()]).toEqual([false, false])
  for (const { wake } of [deaf, fresh]) await wake.listen(() => {})
  expect([deaf.wake.hears!(), fresh.wake.hears!()]).toEqual([false, true])
  await Promise.all([deaf.close(), fresh.close()])
  expect(fresh.wake.hears!()).toBe(false)
})
