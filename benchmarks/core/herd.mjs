/** How late runs start when many schedules are due at one instant: one process that plans and works, as users run it, with the runs planned ahead. */
import { median } from '../harness.mjs'
import { counter } from './counter.mjs'
import { CONCURRENCY, tickJob } from './load.mjs'
import { startProcess } from './processes.mjs'
import { percentile } from './turns.mjs'

const DAY_MS = 86_400_000
/** How long filling the tables takes, at worst: a fixed part, and one for each schedule. */
const FILL_MS = 1500
const FILL_EACH_MS = 0.3

export async function herdRows(places, size, note) {
  const rows = []
  for (const count of size.herds) {
    note(`${places.kind}: ${count} schedules due at once`)
    const seen = []
    for (let round = 0; round < size.rounds; round++) seen.push(await herd(places, count, size.aheadMs))
    rows.push(...rowsOf(count, seen))
  }
  return rows
}

/** Lateness of every start. Tries again with a later instant where filling in the schedules took too long for it. */
async function herd(places, count, aheadMs) {
  const fillMs = FILL_MS + count * FILL_EACH_MS
  for (const patience of [1, 3, 9]) {
    const place = await places.fresh()
    try {
      const dueAt = Math.ceil((Date.now() + fillMs * patience + aheadMs) / 1000) * 1000
      await place.seed({ count, everyMs: DAY_MS, firstAt: dueAt, spreadMs: 0, job: tickJob([]) })
      const late = await latenessOf(place, { count, dueAt, aheadMs })
      if (late !== null) return late
    } finally {
      await place.drop()
    }
  }
  throw new Error(`filling in ${count} schedules takes too long on this machine`)
}

/** Null when there is less time left to plan ahead than a process has that was there all along. */
async function latenessOf(place, { count, dueAt, aheadMs }) {
  const settled = counter('settled')
  const process = await startProcess({ address: place.address, concurrency: CONCURRENCY }, { settled: settled.add })
  try {
    if (dueAt - Date.now() < aheadMs) return null
    const all = settled.reached(count)
    await process.ask('start')
    await all
    const ticks = await process.ask('ticks')
    await process.ask('stop')
    const late = ticks.filter((_, i) => i % 2 === 1)
    if (late.length !== count) throw new Error(`${late.length} of ${count} runs started`)
    return late
  } finally {
    await process.end()
  }
}

function rowsOf(count, seen) {
  const row = (part, what, of) => {
    const rounds = seen.map(of)
    const spread = [Math.min(...rounds), Math.max(...rounds)]
    return { id: `herd-${count}-${part}`, what, unit: 'ms', ours: median(rounds), spread, rounds }
  }
  const shown = count.toLocaleString('en')
  return [
    row('p99', `lateness when ${shown} are due at once, p99`, (late) => percentile(late, 0.99)),
    row('last', '  the last start', (late) => percentile(late, 1)),
  ]
}
