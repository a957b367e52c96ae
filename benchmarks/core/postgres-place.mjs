/** Fresh Postgres databases for measurements, on a durable server of our own or that of DATABASE_URL; the same interface as `sqlite-place.mjs`. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openPostgres } from 'everytick/postgres'
import pg from 'pg'
import { openAt } from './address.mjs'
import { postgresLimit } from './postgres-limit.mjs'
import { wearIn } from './postgres-log.mjs'
import { copyHistory, seed } from './postgres-seed.mjs'
import { HISTORY_DAYS } from './seeding.mjs'

const LAUNCHER = fileURLToPath(new URL('../../test/postgres/launcher.ts', import.meta.url))
const SHOWN = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'wal_level']

export async function postgresPlaces({ quick = false } = {}) {
  const { runnerImport } = await import('vite')
  const { module: launcher } = await runnerImport(LAUNCHER)
  const given = process.env.DATABASE_URL
  const server = given
    ? { url: given, stop: async () => {} }
    : await launcher.startPostgres({ durable: true, own: true })
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  const show = async (name) => (await admin.query(`show ${name}`)).rows[0][name]
  const settings = {}
  for (const name of SHOWN) settings[name] = await show(name)
  // The log of a server that was named is what it is.
  if (!given && !quick) settings.log_files = await wearIn(admin)
  const [{ pid }] = (await admin.query('select pg_backend_pid() as pid')).rows
  return {
    kind: 'postgres',
    version: (await show('server_version')).split(' ')[0],
    settings,
    fresh: async () => placeIn(await launcher.createDatabase(server.url), postmasterOf(pid)),
    async close() {
      await admin.end()
      await server.stop()
    },
  }
}

async function placeIn(database, postmaster) {
  const address = { kind: 'postgres', where: database.url }
  await (await openAt(address)).close()
  let daysFilled = 0
  let spentMs = 0
  return {
    address,
    open: () => openAt(address),
    limit: () => postgresLimit(database.url),
    async seed(schedules) {
      const store = await openAt(address)
      await inSession(database.url, (client) => seed(client, store, schedules))
      await store.close()
    },
    session: (work) => inSession(database.url, work),
    async copyHistory(count) {
      if (count === 0) return
      const store = await openAt(address)
      await copyHistory((work) => inSession(database.url, work), store, { count, daysFilled })
      daysFilled += HISTORY_DAYS
      await store.close()
    },
    /** What the server does by itself after so many fires, at a moment of its choice. */
    tidyPlans: () => inSession(database.url, (client) => client.query('vacuum everytick.cursors')),
    holdSnapshot: () => holdSnapshot(database.url),
    metered: () => metered(database.url),
    serverCpuMs() {
      if (postmaster === null) return null
      // Of a process that has ended less is told than it had, in whole ticks.
      spentMs = Math.max(spentMs, cpuMsOf(postmaster))
      return spentMs
    },
    drop: () => database.drop(),
  }
}

async function inSession(url, work) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** As a forgotten transaction or a long report does: nothing that is deleted from now on can be cleared away. Answers how to end it. */
async function holdSnapshot(url) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select count(*) from everytick.workers')
  return () => client.end()
}

/**
 * A store with one connection, the CPU of the server's process behind it in microseconds, and the pages that process looked
 * at; null for what nobody tells.
 */
async function metered(url) {
  // A connection that came back as another one would be another process.
  const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 })
  // A connection that is cut off while it closes is no news.
  pool.on('error', () => {})
  const store = await openPostgres({ pool, listen: false })
  const [{ pid, version }] = (
    await pool.query(`select pg_backend_pid() as pid, current_setting('server_version_num')::int as version`)
  ).rows
  const pages = async () => {
    if (version < TELLS_PAGES) return null
    // Else what was counted is told a second later.
    await pool.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query(
      'select coalesce(sum(coalesce(hits, 0) + coalesce(reads, 0)), 0)::float8 as pages from pg_stat_get_backend_io($1)',
      [pid],
    )
    return rows[0].pages
  }
  const close = async () => {
    await store.close()
    await pool.end()
  }
  // A process of that number that is not the server's would tell something else.
  const isHere = postmasterOf(pid) !== null
  return { store, pages, close, serverCpuUs: () => (isHere ? cpuUsOf(pid) : null) }
}

/** The first version that says which pages one of its processes looked at. */
const TELLS_PAGES = 180_000
const TICK_MS = 10

/** The server's first process, if it runs on this machine and this system tells. */
function postmasterOf(backend) {
  try {
    const parent = statOf(backend).parent
    return readFileSync(`/proc/${parent}/comm`, 'utf8').trim() === 'postgres' ? parent : null
  } catch {
    return null
  }
}

/** Of a process with one thread, to the nanosecond; null where the system does not tell. */
function cpuUsOf(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
  } catch {
    return null
  }
}

/** Of the first process, of all that it started and that live, and of those that have ended, which are told in ticks. */
function cpuMsOf(postmaster) {
  let ms = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const { parent, own, ended } = statOf(name)
      const isFirst = Number(name) === postmaster
      if (!isFirst && parent !== postmaster) continue
      const us = cpuUsOf(name)
      ms += us === null ? own * TICK_MS : us / 1000
      if (isFirst) ms += ended * TICK_MS
    } catch {
      // It ended between the listing and the look.
    }
  }
  return ms
}

function statOf(pid) {
  // The name stands in parentheses and may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number)
  return { parent: fields[1], own: fields[11] + fields[12], ended: fields[13] + fields[14] }
}
