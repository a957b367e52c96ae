import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { newRun } from '../../testing/conformance/samples.ts'
import type { Hint } from '../contract/wake.ts'
import { type Connection, connect } from './connection.ts'
import { unprepared } from './statement.ts'
import { openPostgres, type PostgresStore } from './store.ts'
import { createWake, type Wake, type Word } from './wake.ts'

let database: Database
let client: pg.Client
let store: PostgresStore
let other: PostgresStore

beforeAll(async () => {
  database = await createReadyDatabase()
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

describe('a hint aboard of a write', () => {
  const hint: Hint = { kind: 'runs', queues: ['aboard'] }
  let elapsed = 0
  let connection: Connection
  let wake: Wake

  beforeEach(() => {
    connection = connect({ urls: [database.url], max: 1, prepare: true, statementTimeoutMs: 5000, name: 'test' })
    wake = createWake(connection, { channel: 'aboard', listen: false, clock: { elapsed: () => elapsed } })
  })
  afterEach(async () => {
    await wake.close()
    await connection.close()
  })

  /** Whether a write was asked to say a hint; it takes so long, and answers so. */
  const isAsked = async (tookMs: number, answer = true): Promise<boolean> => {
    let asked = false
    const said = await wake.aboard(hint, async () => {
      asked = true
      elapsed += tookMs
      return answer
    })
    expect(said).toBe(asked && answer)
    return asked
  }

  it('is said by the commit itself, to others and here', async () => {
    const heard: string[] = []
    const here: Hint[] = []
    await client.query('listen aboard')
    const told = new Promise<void>((resolve) =>
      client.once('notification', ({ payload }) => {
        heard.push(payload!)
        resolve()
      }),
    )
    await wake.listen((each) => here.push(each))
    const say = async ({ channel, payload }: Word) => {
      await connection.api.ask(unprepared('select pg_notify($1, $2)'), [channel, payload])
      return true
    }
    expect(await wake.aboard(hint, say)).toBe(true)
    await told
    expect(here).toEqual([hint])
    expect(heard.map((payload) => JSON.parse(payload).hint)).toEqual([hint])
  })

  it('is one at a time, and not the next one that follows at once', async () => {
    let inner: boolean | undefined
    await wake.aboard(hint, async () => {
      inner = await isAsked(1)
      return true
    })
    expect(inner).toBe(false)
    expect(await isAsked(1)).toBe(false)
    elapsed += 8
    expect(await isAsked(1)).toBe(true)
  })

  it('is none for a hundred times as long after one that had to wait for others', async () => {
    expect(await isAsked(20)).toBe(true)
    elapsed += 1990
    expect(await isAsked(1)).toBe(false)
    elapsed += 10
    expect(await isAsked(1)).toBe(true)
  })

  it('is possible again after a write that failed or wrote nothing', async () => {
    await expect(wake.aboard(hint, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    elapsed += 8
    expect(await isAsked(1, false)).toBe(true)
    elapsed += 8
    expect(await isAsked(1)).toBe(true)
  })
})
