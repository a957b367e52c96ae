/** Fresh Postgres databases for measurements, on a durable server of our own or that of DATABASE_URL; the same interface as `sqlite-place.mjs`. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openAt } from './address.mjs'
import { CATCH_UP, noop } from './load.mjs'
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
    seed: (schedules) => inSession(database.url, (client) => seed(client, schedules)),
    session: (work) => inSession(database.url, work),
    serverCpuMs: () => (postmaster === null ? null : cpuMsOf(postmaster)),
    drop: () => database.drop(),
  }
}

export async function inSession(url, work) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The same ids, keys and instants as `seededAt` gives, made by the server. */
async function seed(client, { count, everyMs, firstAt }) {
  const [policy, catchUp] = [JSON.stringify(noop.policy), JSON.stringify(CATCH_UP)]
  const rows = `
    select ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid as id, i,
      ${firstAt} + (i * 7919 % ${count}) * ${everyMs} / ${count} as anchor
    from generate_series(0, ${count - 1}::bigint) i`
  await client.query(`
    insert into everytick.schedules (id, workspace, key, revision, timing, job, queue, payload, priority, policy, catch_up,
      description, tags, metadata, source, created_at, updated_at)
    select id, 'seeded', 'seeded-' || i, 1, jsonb_build_object('kind', 'interval', 'everyMs', ${everyMs}, 'anchorAt', anchor),
      '${noop.name}', '${noop.queue}', 'null', ${noop.priority}, '${policy}', '${catchUp}', '', '[]', 'null', 'api', now(), now()
    from (${rows}) r`)
  await client.query(`
    insert into everytick.cursors (schedule_id, next_at, watermark_at, revision)
    select id, to_timestamp(anchor / 1000.0)::timestamptz(3), to_timestamp(${firstAt - 1} / 1000.0)::timestamptz(3), 1
    from (${rows}) r`)
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
