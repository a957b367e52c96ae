/** How fast real processes carry out runs of a job that does nothing, from the first grant to the last result on disk. */
import { everytick } from 'everytick'
import { median } from '../harness.mjs'
import { CONCURRENCY, newIds, noop } from './load.mjs'
import { startProcess } from './processes.mjs'
import { inGroups, perSecond, rateRow, turns } from './turns.mjs'

const BATCH = 1000

export async function drainRows(places, size, note) {
  const rows = []
  for (const count of [1, 2]) {
    note(`${places.kind}: drain with ${count} ${count === 1 ? 'process' : 'processes'}`)
    const place = await places.fresh()
    try {
      rows.push(...(await drained(place, count, { ...size, must: mustOf(places.kind) })))
    } finally {
      await place.drop()
    }
  }
  return rows
}

const mustOf = (kind) => (kind === 'sqlite' ? { kind: 'least', value: 20_000 } : null)

async function drained(place, count, { runs, rounds, must }) {
  const [store, limit] = [await place.open(), await place.limit()]
  const app = everytick({ store, jobs: [noop] })
  const counter = settledCounter()
  const options = { address: place.address, role: 'worker', concurrency: CONCURRENCY }
  const processes = await Promise.all(Array.from({ length: count }, () => startProcess(options, counter.add)))
  const all = (ask) => Promise.all(processes.map((process) => process.ask(ask)))
  const cpuMs = async () => (await all('usage')).reduce((sum, usage) => sum + usage.cpuMs, 0)
  const costs = { worker: [], server: [] }
  const groups = { total: runs, group: BATCH, inFlight: 2 }

  const ours = async (round) => {
    await inGroups(groups, (size) =>
      app.enqueueMany(
        noop,
        Array.from({ length: size }, () => ({})),
      ),
    )
    const [before, serverBefore] = [await cpuMs(), place.serverCpuMs()]
    const rate = await perSecond(runs, async () => {
      const done = counter.reached(runs)
      await all('start')
      await done
    })
    const [after, serverAfter] = [await cpuMs(), place.serverCpuMs()]
    await all('stop')
    if (round > 0) costs.worker.push(((after - before) * 1000) / runs)
    if (round > 0 && serverAfter !== null) costs.server.push(((serverAfter - serverBefore) * 1000) / runs)
    return rate
  }
  /** One line of claim and finish for each process. */
  const bare = async () => {
    await inGroups(groups, (size) => limit.insert(newIds(size)))
    const lines = { total: runs, group: BATCH, inFlight: count }
    return perSecond(runs, () => inGroups(lines, async (size) => limit.finish(await limit.claim(size))))
  }

  try {
    const { rate } = await turns({ ours, limit: bare }, rounds)
    const words = count === 1 ? '1 process' : '2 processes'
    const about = { id: `drain-${count}`, what: `drain, ${words} of ${CONCURRENCY}`, must }
    const cost = (who, values) => ({
      id: `drain-${count}-cpu-${who}`,
      what: `  CPU for each run, ${who === 'worker' ? words : 'server'}`,
      unit: 'us',
      must: null,
      ours: median(values),
      rivals: {},
    })
    const rows = [rateRow(about, rate), cost('worker', costs.worker)]
    return costs.server.length > 0 ? [...rows, cost('server', costs.server)] : rows
  } finally {
    await Promise.all(processes.map((process) => process.end()))
    await app.stop()
    await store.close()
    await limit.close()
  }
}

/** Adds up what the processes report; each round counts from zero. */
function settledCounter() {
  let settled = 0
  let goal = Number.POSITIVE_INFINITY
  let reached = () => {}
  return {
    add(count) {
      settled += count
      if (settled >= goal) reached()
    },
    reached(count) {
      settled = 0
      goal = count
      return new Promise((resolve) => {
        reached = resolve
      })
    },
  }
}
