/** Fresh Postgres databases for measurements, on a durable server of our own or that of DATABASE_URL; the same interface as `sqlite-place.mjs`. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openAt } from './address.mjs'
import { STRIDE, seedling } from './load.mjs'
import { postgresLimit } from './postgres-limit.mjs'

const LAUNCHER = fileURLToPath(new URL('../../test/postgres/launcher.ts', import.meta.url))
const SHOWN = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'wal_level']

export async function postgresPlaces() {
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
    serverCpuMs: () => (postmaster === null ? null : cpuMsOf(postmaster)),
    drop: () => database.drop(),
  }
}

async function inSession(url, work) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Copies one schedule that the store itself has written, whatever columns it has. */
async function seed(client, store, { count, everyMs, firstAt }) {
  const first = seedling({ everyMs, firstAt })
  await store.schedules.put([first])
  const copies = `
    select ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid as id, i,
      ${firstAt} + (i * ${STRIDE} % ${count}) * ${everyMs} / ${count} as anchor
    from generate_series(1, ${count - 1}::bigint) i`
  const copy = (table, idColumn, changes) =>
    client.query(`
      insert into everytick.${table}
      select (jsonb_populate_record(t, ${changes})).* from (${copies}) c cross join everytick.${table} t
      where t.${idColumn} = '${first.id}'`)
  const timing = `t.timing || jsonb_build_object('anchorAt', anchor)`
  await copy('schedules', 'id', `jsonb_build_object('id', c.id, 'key', 'seeded-' || i, 'timing', ${timing})`)
  await copy(
    'cursors',
    'schedule_id',
    `jsonb_build_object('schedule_id', c.id, 'next_at', to_timestamp(anchor / 1000.0))`,
  )
  // What the server would do by itself in the minutes after, and in the middle of a measurement.
  await client.query('vacuum analyze everytick.schedules, everytick.cursors')
  await client.query('checkpoint')
}

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

/** Of the first process, of all that it started and that live, and of those that have ended. */
function cpuMsOf(postmaster) {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const { parent, own, ended } = statOf(name)
      if (Number(name) === postmaster) ticks += own + ended
      else if (parent === postmaster) ticks += own
    } catch {
      // It ended between the listing and the look.
    }
  }
  return ticks * TICK_MS
}

function statOf(pid) {
  // The name stands in parentheses and may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number)
  return { parent: fields[1], own: fields[11] + fields[12], ended: fields[13] + fields[14] }
}
