/** How late runs start when many schedules are due at one instant: one process that plans and works, as users run it, with the runs planned ahead. */
import { median } from '../harness.mjs'
import { counter } from './counter.mjs'
import { CONCURRENCY, tickJob } from './load.mjs'
import { startProcess } from './processes.mjs'
import { DAY_MS } from './seeding.mjs'
import { percentile } from './turns.mjs'

const shown = (count) => count.toLocaleString('en')
/** How long filling the tables takes: a fixed part, and one for each schedule. */
const FILL_MS = 1500
const FILL_EACH_MS = 0.05

export async function backlogRows(places, { backlogs, backlogRounds, aheadMs }, note) {
  const rows = []
  for (const [i, count] of backlogs.entries()) {
    const seen = []
    for (let round = 0; round < backlogRounds[i]; round++) {
      note(`${shown(count)} schedules due at once, round ${round + 1} of ${backlogRounds[i]}`)
      seen.push(await backlog(places.fresh, { count, aheadMs }))
    }
    rows.push(...rowsOf(`backlog-${count}`, `${shown(count)} are due at once`, seen))
  }
  return rows
}

/** The same among many schedules that are not due. */
export async function largeBacklogRows(places, { crowd: [count, among], aheadMs }, note) {
  const { place } = await places.stored(among)
  note(`${shown(count)} schedules due at once among ${shown(among)}`)
  const seen = [await backlog(async () => ({ ...place, drop: async () => {} }), { count, aheadMs })]
  return rowsOf(`backlog-${count}-among-${among}`, `${shown(count)} among ${shown(among)} are due at once`, seen)
}

/** Those of several tries in one place are kept apart. */
let groups = 0

/** Lateness of every start. Tries again with a later instant where filling in the schedules took too long for it. */
async function backlog(open, { count, aheadMs }) {
  const fillMs = FILL_MS + count * FILL_EACH_MS
  for (const patience of [1, 4, 16]) {
    const place = await open()
    try {
      const dueAt = Math.ceil((Date.now() + fillMs * patience + aheadMs) / 1000) * 1000
      await place.seed({ count, everyMs: DAY_MS, firstAt: dueAt, spreadMs: 0, job: tickJob([]), group: ++groups })
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

function rowsOf(id, when, seen) {
  const row = (part, what, of) => {
    const rounds = seen.map(of)
    const spread = rounds.length < 2 ? {} : { spread: [Math.min(...rounds), Math.max(...rounds)], rounds }
    return { id: `${id}-${part}`, what, unit: 'ms', ours: median(rounds), ...spread }
  }
  return [
    row('p99', `lateness when ${when}, p99`, (late) => percentile(late, 0.99)),
    row('last', '  the last start', (late) => percentile(late, 1)),
  ]
}
