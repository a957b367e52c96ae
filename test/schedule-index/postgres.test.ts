/** Holds the Postgres index to the suite, and to what only a server with several connections can break. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import {
  type BadRow,
  createPostgresScheduleIndex,
  createScheduleIndexConformanceTests,
  fromPgPool,
  type PostgresExecutor,
  scheduleIndexDdl,
} from '../../src/schedule-index.ts'
import { createDatabase, type Database } from '../postgres/launcher.ts'

const NINE = Date.parse('2026-11-16T09:00:00Z')
const row = { userId: 'ana', key: 'digest', cron: '0 9 * * *', nextFireAt: NINE }

let database: Database
let pool: pg.Pool
beforeAll(async () => {
  database = await createDatabase(inject('postgres'))
  pool = new pg.Pool({ connectionString: database.url, max: 6 })
  // Dropping the database may cut off a connection that was already told to end.
  pool.on('error', () => {})
  await pool.query(scheduleIndexDdl('postgres'))
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

async function empty(): Promise<PostgresExecutor> {
  await pool.query('truncate schedule_index')
  return fromPgPool(pool)
}

createScheduleIndexConformanceTests('postgres', {
  // The suite writes hundreds of bad rows on purpose.
  createIndex: async () => createPostgresScheduleIndex(await empty(), { onBadRow: () => {} }),
  cleanup: () => {},
})

/** The executor, with every statement that goes by written down by its first word, and a way to make one fail. */
function watched(executor: PostgresExecutor, fails = ''): { executor: PostgresExecutor; seen: string[] } {
  const seen: string[] = []
  const beginTx: PostgresExecutor['beginTx'] = async () => {
    const tx = await executor.beginTx()
    const note = (word: string): void => {
      seen.push(word)
      if (word === fails) throw new Error(`${word} failed`)
    }
    return {
      query: async (text, values) => {
        note(text.trim().split(' ')[0]!)
        return tx.query(text, values)
      },
      commit: async () => {
        note('commit')
        await tx.commit()
      },
      rollback: async () => {
        note('rollback')
        await tx.rollback()
      },
    }
  }
  return { executor: { query: executor.query, beginTx }, seen }
}

describe('the index in Postgres', () => {
  it('claims a whole batch by one look and one write in one transaction', async () => {
    const { executor, seen } = watched(await empty())
    const index = createPostgresScheduleIndex(executor)
    for (let i = 0; i < 30; i++) await index.upsert({ ...row, key: `k${i}` })
    expect((await index.claimDue(NINE)).length).toBe(30)
    expect(seen).toEqual(['select', 'update', 'commit'])
  })

  it('passes over a row that another transaction holds, and claims it when it is let go', async () => {
    const executor = await empty()
    const index = createPostgresScheduleIndex(executor)
    await index.upsert(row)
    await index.upsert({ ...row, key: 'sync' })
    const holder = await executor.beginTx()
    await holder.query("select 1 from schedule_index where key = 'digest' for update", [])
    expect(await index.claimDue(NINE)).toEqual([{ ...row, key: 'sync' }])
    await holder.rollback()
    expect(await index.claimDue(NINE)).toEqual([row])
  })

  it('lets an edit that meets a claim wait for it and have the last word', async () => {
    const executor = await empty()
    const index = createPostgresScheduleIndex(executor)
    await index.upsert(row)
    let edit: Promise<void> | undefined
    const meeting: PostgresExecutor = {
      query: executor.query,
      beginTx: async () => {
        const tx = await executor.beginTx()
        const query: typeof tx.query = async (text, values) => {
          const answer = await tx.query(text, values)
          edit ??= index.upsert({ ...row, nextFireAt: NINE + 5 })
          return answer
        }
        return { ...tx, query }
      },
    }
    expect(await createPostgresScheduleIndex(meeting).claimDue(NINE)).toEqual([row])
    await edit
    expect(await index.claimDue(NINE + 5)).toEqual([{ ...row, nextFireAt: NINE + 5 }])
  })

  it.each(['select', 'update'])('changes nothing and gives its connection back when its %s fails', async (word) => {
    const executor = await empty()
    await createPostgresScheduleIndex(executor).upsert(row)
    const failing = watched(executor, word)
    await expect(createPostgresScheduleIndex(failing.executor).claimDue(NINE)).rejects.toThrow(`${word} failed`)
    expect(failing.seen.at(-1)).toBe('rollback')
    expect(pool.totalCount - pool.idleCount).toBe(0)
    expect(await createPostgresScheduleIndex(executor).claimDue(NINE)).toEqual([row])
  })

  it('survives a connection that is cut in the middle of a claim', async () => {
    const executor = await empty()
    const index = createPostgresScheduleIndex(executor)
    await index.upsert(row)
    const cut: PostgresExecutor = {
      query: executor.query,
      beginTx: async () => {
        const tx = await executor.beginTx()
        const { rows } = await tx.query('select pg_backend_pid() as pid', [])
        await pool.query('select pg_terminate_backend($1, 5000)', [(rows[0] as { pid: number }).pid])
        return tx
      },
    }
    await expect(createPostgresScheduleIndex(cut).claimDue(NINE)).rejects.toThrow()
    expect(await index.claimDue(NINE)).toEqual([row])
  })

  it('creates its table at the first call that misses it, also when several processes do so at once', async () => {
    await pool.query('create schema made')
    const pools = Array.from({ length: 4 }, () => {
      const made = new pg.Pool({ connectionString: database.url, max: 2, options: '-c search_path=made' })
      made.on('error', () => {})
      return made
    })
    onTestFinished(async () => {
      await Promise.all(pools.map((each) => each.end()))
    })
    const indexes = pools.map((each) => createPostgresScheduleIndex(fromPgPool(each)))
    await Promise.all(indexes.map((index, i) => index.upsert({ ...row, key: `k${i}` })))
    const claims = await Promise.all(indexes.map((index) => index.claimDue(NINE)))
    expect(claims.flat().length).toBe(4)
  })

  it('leaves the table to the caller with skipSchemaInit, and says how to create it', async () => {
    const bare = new pg.Pool({ connectionString: database.url, max: 1, options: '-c search_path=pg_temp' })
    const index = createPostgresScheduleIndex(fromPgPool(bare), { skipSchemaInit: true })
    try {
      await expect(index.claimDue(NINE)).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
      await expect(index.upsert(row)).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
    } finally {
      await bare.end()
    }
  })

  it('tells of a bad row once', async () => {
    const told: BadRow[] = []
    const index = createPostgresScheduleIndex(await empty(), { onBadRow: (bad) => told.push(bad) })
    const bad = { ...row, timezone: 'Mars/Olympus_Mons' }
    await index.upsert(bad)
    await index.claimDue(NINE)
    await index.claimDue(NINE + 1)
    expect(told).toEqual([{ row: bad, error: expect.objectContaining({ code: 'TIMEZONE_UNKNOWN' }) }])
  })

  it('refuses an executor that cannot begin a transaction', () => {
    expect(() => createPostgresScheduleIndex({ query: pool.query } as never)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', hint: expect.stringContaining('fromPgPool') }),
    )
  })
})
