/** How fast real processes execute runs of a job that does nothing, from the first claim to the last result on disk. */
import { everytick } from 'everytick'
import { median } from '../harness.mjs'
import { counter } from './counter.mjs'
import { CONCURRENCY, newIds, noop } from './load.mjs'
import { startProcess } from './processes.mjs'
import { inGroups, perSecond, rateRow, turns } from './turns.mjs'

const BATCH = 1000

export async function drainRows(places, size, note) {
  const rows = []
  for (const count of [1, 2]) {
    note(`drain with ${count} ${count === 1 ? 'process' : 'processes'}`)
    const place = await places.fresh()
    try {
      rows.push(...(await drained(place, count, size)))
    } finally {
      await place.drop()
    }
  }
  return rows
}

async function drained(place, count, { runs, rounds }) {
  const [store, limit] = [await place.open(), await place.limit()]
  const app = everytick({ store, jobs: [noop] })
  const settled = counter('settled')
  const options = { address: place.address, role: 'worker', concurrency: CONCURRENCY }
  const processes = await Promise.all(
    Array.from({ length: count }, () => startProcess(options, { settled: settled.add })),
  )
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
      const done = settled.reached(runs)
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
    const cost = (part, what, values) => ({
      id: `drain-${count}-cpu${part}`,
      what: `  CPU for each run, ${what}`,
      unit: 'us',
      ours: median(values),
    })
    const rows = [rateRow({ id: `drain-${count}`, what: `drain, ${words} of ${CONCURRENCY}` }, rate)]
    if (costs.server.length === 0) return [...rows, cost('-worker', words, costs.worker)]
    const sums = costs.worker.map((worker, round) => worker + costs.server[round])
    return [
      ...rows,
      cost('', `${words} and server`, sums),
      cost('-worker', words, costs.worker),
      cost('-server', 'server', costs.server),
    ]
  } finally {
    await Promise.all(processes.map((process) => process.end()))
    await app.stop()
    await store.close()
    await limit.close()
  }
}
