import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, startPostgres } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { claimed, newId, newRun, planFor, putNew, SUCCEEDED, settled } from '../../testing/conformance/samples.ts'
import type { Client, Pool } from './client.ts'
import { connect } from './connection.ts'
import { unprepared } from './statement.ts'
import { openPostgres, type PostgresOptions, type PostgresStore } from './store.ts'

let database: Database
let pool: pg.Pool

beforeAll(async () => {
  database = await createReadyDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 3 })
  // Dropping the database may cut off a connection that was already told to end.
  pool.on('error', () => {})
  await (await openPostgres({ url: database.url })).close()
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

/** Everything from a new schedule to a finished run, one of each verb of the working path. */
async function wholeWay(store: PostgresStore): Promise<string> {
  const [key, now] = [newId(), await store.now()]
  const schedule = await putNew(store, { key, queue: key }, { nextAt: now, watermarkAt: now - 1 })
  const plan = planFor(schedule, 1)
  expect(await store.planning.record([plan])).toEqual(['recorded'])
  const [grant] = await claimed(store, { wanted: [{ queue: key, limit: 1 }] })
  await store.claims.renew(1000, [{ id: grant!.id, fence: grant!.fence, claimId: grant!.claimId, progress: null }])
  await settled(store, grant!, SUCCEEDED)
  await store.schedules.remove('default', key, 'ana')
  return (await store.history.run(grant!.id))!.state
}

describe('options', () => {
  it('are refused when they are unknown, with what was probably meant', async () => {
    const options = { url: database.url, shema: 'x' } as PostgresOptions
    await expect(openPostgres(options)).rejects.toMatchObject({ code: 'OPTION_UNKNOWN', hint: 'did you mean schema?' })
  })

  it('name either an address or a pool', async () => {
    for (const options of [{}, { url: database.url, pool }])
      await expect(openPostgres(options)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })

  it('have numbers within reason', async () => {
    for (const wrong of [{ max: 0 }, { max: 1.5 }, { statementTimeoutMs: -1 }])
      await expect(openPostgres({ url: database.url, ...wrong })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })

  it('never show a password', async () => {
    for (const url of ['http://me:secret@db/x', 'secret'])
      await expect(openPostgres({ url })).rejects.toSatisfy(
        (error: Error & { code: string }) =>
          error.code === 'STORE_URL_INVALID' && !JSON.stringify(error).includes('secret'),
      )
    const url = new URL(database.url)
    url.password = 'secret'
    const store = await openPostgres({ url: url.href })
    expect(store.name).toBe(`postgres postgres@${url.host}${url.pathname}`)
    await store.close()
  })
})

describe('an address', () => {
  it('with several hosts finds the one that answers, and every verb works', async () => {
    const { host, pathname } = new URL(database.url)
    const store = await openPostgres({
      url: `postgres://postgres@127.0.0.1:1,${host}${pathname}?target_session_attrs=read-write`,
    })
    expect(store.name).toBe(`postgres postgres@127.0.0.1:1,${host}${pathname}`)
    expect(await wholeWay(store)).toBe('succeeded')
    await store.close()
  })

  it('of which no host answers says why', async () => {
    const url = 'postgres://postgres@127.0.0.1:1,127.0.0.1:2/none'
    await expect(openPostgres({ url })).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' })
  })

  it('sets options of the store, unless code sets them', async () => {
    const store = await openPostgres({ url: `${database.url}?max=3&listen=false`, listen: true })
    expect(store.upkeep.pool()?.size).toBe(8)
    await store.wake.listen(() => {})
    expect(store.wake.hears?.()).toBe(true)
    await store.close()
    const deaf = await openPostgres({ url: `${database.url}?listen=false&prepare=false` })
    await deaf.wake.listen(() => {})
    expect(deaf.wake.hears?.()).toBe(false)
    expect(await wholeWay(deaf)).toBe('succeeded')
    await deaf.close()
  })
})

describe('connections of our own', () => {
  const opened = (prepare: boolean) =>
    connect({ urls: [database.url], max: 1, prepare, statementTimeoutMs: 5000, name: 'test' })
  const COMPILING = `select current_setting('jit') as jit, current_setting('plan_cache_mode') as plans`
  const settingsOf = async (prepare: boolean, query = COMPILING): Promise<unknown[]> => {
    const connection = opened(prepare)
    const look = unprepared(query)
    const found = [...(await connection.hot.ask(look, [])), ...(await connection.api.ask(look, []))]
    await connection.close()
    return found
  }

  it('compile nothing, and keep the plans of hot statements', async () => {
    expect(await settingsOf(true)).toEqual([
      { jit: 'off', plans: 'force_generic_plan' },
      { jit: 'off', plans: 'auto' },
    ])
  })

  it('are left as they are where a pooler may hand them on', async () => {
    const { rows } = await pool.query(COMPILING)
    expect(await settingsOf(false)).toEqual([rows[0], rows[0]])
  })

  it('let the server notice within half a minute that a process was cut off, and end its transaction', async () => {
    const noticed = { idle: '10', interval: '5', count: '3', transaction: '10s' }
    const query = `select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval,
      current_setting('tcp_keepalives_count') as count, current_setting('idle_in_transaction_session_timeout') as transaction`
    expect(await settingsOf(true, query)).toEqual([noticed, noticed])
  })

  it('give up a hot statement after a third of the lease, and leave others their time', async () => {
    const connection = opened(true)
    const slow = unprepared('select pg_sleep(1.5) is null as ended')
    connection.leased(3000)
    await expect(connection.hot.ask(slow, [])).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' })
    expect(await connection.api.ask(slow, [])).toEqual([{ ended: false }])
    await connection.close()
  })
})

describe('a database that is away', () => {
  it('is told by a code, so that callers know to ask again', async () => {
    const unreachable = openPostgres({ url: 'postgres://nobody@127.0.0.1:1/none' })
    await expect(unreachable).rejects.toMatchObject({ code: 'STORE_UNREACHABLE', cause: { code: 'ECONNREFUSED' } })
  })

  it('is found again after each of three immediate restarts, by every verb and by the listener', async () => {
    const server = await startPostgres({ durable: true })
    const store = await openPostgres({ url: server.url })
    let returned = (): void => {}
    await store.wake.listen(({ kind }) => kind === 'all' && returned())
    for (let restart = 0; restart < 3; restart += 1) {
      const all = new Promise<void>((resolve) => (returned = resolve))
      const inFlight = Array.from({ length: 20 }, () => store.runs.enqueue([newRun()]).catch((error) => error.code))
      await server.restartImmediately()
      for (const answer of await Promise.all(inFlight))
        if (typeof answer === 'string') expect(answer).toBe('STORE_UNREACHABLE')
      expect(await untilReachable(() => wholeWay(store))).toBe('succeeded')
      await all
    }
    await store.close()
    await server.stop()
  })
})

/** Asks again as the loops of the engine do; a connection may be found dead only when it is used. */
async function untilReachable<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask()
    } catch (error) {
      if (tries === 10 || (error as { code?: string }).code !== 'STORE_UNREACHABLE') throw error
    }
  }
}

describe('a statement that failed for no fault of its own', () => {
  it('is done again, and once', async () => {
    let failures = 2
    const unlucky: Pool = {
      async connect() {
        const client: Client = await pool.connect()
        const query: Client['query'] = async (config) => {
          if (!config.text.includes('insert into') || failures-- <= 0) return client.query(config)
          throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
        }
        return withMethod(client, 'query', query)
      },
    }
    const store = await openPostgres({ pool: unlucky, listen: false })
    const wanted = newRun()
    expect(await store.runs.enqueue([wanted])).toEqual([{ id: wanted.id, created: true }])
    expect(failures).toBeLessThan(0)
    await store.close()
  })
})

/** The client with one method replaced. */
const withMethod = <Name extends keyof Client>(client: Client, name: Name, method: Client[Name]): Client =>
  new Proxy(client, {
    get(target, asked) {
      const value = asked === name ? method : Reflect.get(target, asked)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

describe('a pooler in transaction mode', () => {
  it('may give each transaction another connection that remembers nothing', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => connected()))
    let turn = 0
    const pooler: Pool = {
      async connect() {
        const client = clients[turn++ % clients.length]!
        await client.query('discard all')
        return withMethod(client as unknown as Client, 'release', () => {})
      },
    }
    const store = await openPostgres({ pool: pooler, listen: false, prepare: false })
    expect(await wholeWay(store)).toBe('succeeded')
    await store.upkeep.tidy({
      historyMs: 1e12,
      journalMs: 1e12,
      idempotencyMs: 1e12,
      workersMs: 1e12,
      orphansMs: 1e12,
      endedMs: null,
    })
    await store.close()
    for (const client of clients) {
      const { rows } = await client.query(
        `select (select count(*) from pg_prepared_statements) + (select count(*) from pg_listening_channels()) as left`,
      )
      expect(Number(rows[0].left)).toBe(0)
      await client.end()
    }
  })
})

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return client
}

describe('closing', () => {
  it('waits for what is under way, and refuses what comes after', async () => {
    const store = await openPostgres({ url: database.url, max: 1 })
    const runs = Array.from({ length: 10 }, () => newRun())
    const answers = runs.map((one) => store.runs.enqueue([one]))
    await Promise.all([store.close(), store.close()])
    expect((await Promise.all(answers)).flat()).toEqual(runs.map(({ id }) => ({ id, created: true })))
    await expect(store.now()).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' })
  })

  it('leaves a pool of the caller’s own open', async () => {
    const store = await openPostgres({ pool })
    await store.wake.listen(() => {})
    await store.close()
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })
})
