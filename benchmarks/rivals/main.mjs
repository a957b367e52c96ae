/** The race: ours, the rivals and the bare limit, on the same machine in the same minutes; what a turn is, stands in `measures.mjs`. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CONCURRENCY } from '../core/load.mjs'
import { CONTENDERS, moduleOf } from './contenders.mjs'
import { install, nodeForAll, versionOf, whyNotOn, whyNotReady } from './installed.mjs'
import { backlog, backlogOf, bulk, create, pickUp, single, twice } from './measures.mjs'
import { race } from './race.mjs'
import { NO_REDIS, redisPlace } from './redis-place.mjs'
import { rowsOf } from './rows.mjs'
import { startContender } from './talk.mjs'

export { reportText } from './report.mjs'

const FULL = {
  /** What takes a second or less needs more of them on a machine whose speed changes from one to the next. */
  rounds: 5,
  backlogRounds: 3,
  jobs: 30_000,
  /** A queue that was left alone for a while. */
  backlog: 100_000,
  /** A disk that was given gigabytes is uneven for a minute or so; after that latencies are those of the contenders. */
  calmMs: 90_000,
  oneByOne: 400,
  /** Of 100 the 99th percentile would be the worst, and tell of the disk's worst moment. */
  singles: 300,
  backlogs: [1000, 10_000],
  backlogLeadMs: 15_000,
  /** Whether those take part that can only be due at a full minute. */
  backlogMinutes: true,
  schedules: 100_000,
}
const QUICK = {
  rounds: 3,
  backlogRounds: 3,
  jobs: 1000,
  backlog: 2000,
  calmMs: 0,
  oneByOne: 20,
  singles: 5,
  backlogs: [1000],
  backlogLeadMs: 4000,
  backlogMinutes: false,
  schedules: 2000,
}
/**
 * `processes` is how many of one contender it takes, `calm` whether the disk is left alone before, `backlog` that it takes
 * long, and needs no race where we are alone. Creating comes last: what it leaves behind is due within the hour.
 */
const turnsOf = ({ backlogs }) => [
  { what: 'enqueue and drain', measure: bulk },
  { what: 'drain with 2 processes', measure: twice, processes: 2 },
  { what: 'drain a backlog with 2 processes', measure: backlog, processes: 2 },
  { what: 'enqueue one by one', measure: single, calm: true },
  { what: 'pick-up', measure: pickUp },
  ...backlogs.map((count) => ({
    what: `${count.toLocaleString('en')} schedules due at once`,
    measure: backlogOf(count),
    backlog: true,
  })),
  { what: 'create schedules', measure: create },
]

const PLACES = {
  sqlite: async () => (await import('../core/sqlite-place.mjs')).sqlitePlaces(),
  postgres: async (how) => (await import('../core/postgres-place.mjs')).postgresPlaces(how),
}

/** Says in a line why there will be no race, or null. Installs when, and only when, asked to. */
export async function prepare({ install: asked, note }) {
  if (!asked) return whyNotReady()
  const code = await install()
  if (code !== 0) return `npm ci failed with exit code ${code}; its own message is above`
  note('the rivals are installed; let them race with: npm run bench -- rivals')
  return null
}

export async function run({ quick, note, store }) {
  const size = quick ? QUICK : FULL
  const node = nodeForAll()
  const versions = { everytick: JSON.parse(readFileSync(new URL('../../package.json', import.meta.url))).version }
  versions['node of all contenders'] = node.version
  const settings = { ...size, concurrency: CONCURRENCY, absent: {} }
  const rows = []
  for (const kind of store === undefined ? Object.keys(PLACES) : [store]) {
    rows.push(...(await raceOn(kind, { size, quick, node, note, versions, settings })))
  }
  return { rows, versions, settings }
}

async function raceOn(kind, { size, quick, node, note, versions, settings }) {
  const places = await PLACES[kind]({ quick })
  const redis = kind === 'postgres' ? await redisPlace() : null
  versions[kind] = kind === 'sqlite' ? (sqliteOf(node) ?? places.version) : places.version
  settings[kind] = places.settings
  if (redis !== null) versions.redis = redis.version
  const leave = (name, why) => {
    // The first line is what happened; where in the code is nobody's business here, and a path of this machine.
    const [reason] = why.split('\n')
    settings.absent[name] = reason
    note(`${kind}: without ${name}: ${reason}`)
  }
  const entries = []
  const seen = {}
  try {
    for (const contender of CONTENDERS[kind]) {
      const why = whyNot(contender, { node, redis })
      const entry = why ?? (await enter(contender, { places, redis, node }).catch((error) => error.message))
      if (typeof entry === 'string') {
        leave(`${contender.name} on ${kind}`, entry)
        continue
      }
      entries.push(entry)
      if (contender.package) versions[contender.package] = versionOf(contender.package)
      if (entry.offers.settings) settings[contender.name] = entry.offers.settings
      for (const [what, reason] of Object.entries(entry.offers.absences)) {
        settings.absent[`${contender.name} on ${kind}, "${what}"`] = reason
      }
    }
    for (const { what, measure, processes: least = 1, calm = false, backlog = false } of turnsOf(size)) {
      if (entries.every(({ processes }) => processes.length < least)) continue
      if (backlog && !entries.some(({ name, offers }) => name !== 'everytick' && offers.backlog)) continue
      if (calm) await delay(size.calmMs)
      note(`${kind}: ${what}`)
      const turn = (entry, round) => measure(entry, size, round)
      const onFailure = async (entry, error) => {
        if (entry.name === 'everytick') throw error
        leave(`${entry.name} on ${kind}, from "${what}" on`, error.message)
        entries.splice(entries.indexOf(entry), 1)
        // What it has begun must not go on during the turns of others.
        await entry.end()
      }
      const rounds = backlog ? size.backlogRounds : size.rounds
      const found = await race({ entries: [...entries], rounds, turn, onFailure })
      for (const [name, values] of Object.entries(found)) seen[name] = { ...seen[name], ...values }
    }
  } finally {
    for (const entry of entries) await entry.end()
    await redis?.close()
    await places.close()
  }
  return rowsOf(kind, seen)
}

/** The SQLite that contenders without a driver of their own have; undefined where Node brings none. */
function sqliteOf({ execPath }) {
  const said = execFileSync(execPath, ['-p', 'process.versions.sqlite ?? ""']).toString().trim()
  return said === '' ? undefined : said
}

function whyNot(contender, { node, redis }) {
  if (contender.place === 'redis' && redis === null) return NO_REDIS
  return contender.package === undefined ? null : whyNotOn(node.version, contender.package)
}

/** Gives a contender a fresh place and its processes. */
async function enter(contender, { places, redis, node }) {
  const { name, scale, full } = contender
  const fresh = contender.place === 'redis' ? null : await places.fresh()
  const place = { ...(fresh === null ? redis.place : addressFor(name, fresh.address)), full }
  const processes = []
  const end = async () => {
    await Promise.all(processes.map((process) => process.end()))
    await fresh?.drop()
  }
  try {
    // One after the other: two that make the same tables at once may trip over each other.
    while (processes.length < contender.processes)
      processes.push(await startContender({ execPath: node.execPath, module: moduleOf(contender), place }))
    const offers = await processes[0].ask('offers')
    return { name, scale, processes, offers, end, serverCpuMs: (fresh ?? redis).serverCpuMs }
  } catch (error) {
    await end()
    throw error
  }
}

/** Ours has its file already; every other one makes its own beside it. */
const addressFor = (name, { kind, where }) =>
  kind === 'sqlite' && name !== 'everytick' ? { kind, where: join(dirname(where), `${name}.db`) } : { kind, where }
