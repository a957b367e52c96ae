/** What planning costs by the number of stored schedules, at the same load: for each fire, for a pass that finds nothing, in memory and in pages. */
import { setTimeout as delay } from 'node:timers/promises'
import { createPlanner } from '../../dist/engine/planner.js'
import { median } from '../harness.mjs'
import { explainDue } from './explain.mjs'
import { CONCURRENCY } from './load.mjs'
import { startProcess } from './processes.mjs'

const MB = 2 ** 20
const DUE_PER_SECOND = 100
const LOOKAHEAD_MS = 10_000
const WARM_PASSES = 5
const shown = (count) => count.toLocaleString('en')
const alone = { leads: async () => true, release: async () => {} }

export async function planningRows(places, { storedSchedules, passes, schedulerMs }, note) {
  note(`${places.kind}: planning with ${storedSchedules.join(', ')} schedules, ${DUE_PER_SECOND} due a second`)
  const sides = []
  try {
    for (const count of storedSchedules) sides.push(await planningSide(places, count))
    // What came due while the tables were filled is none of a steady load.
    for (const side of sides) await side.pass(LOOKAHEAD_MS)
    const rss = await schedulerMemory(sides.at(-1).place, schedulerMs)
    for (let second = 1; second <= passes + WARM_PASSES; second++) {
      for (const side of sides) await side.look(LOOKAHEAD_MS + second * 1000)
    }
    const [fires, looks] = ['fires', 'looks'].map((name) => sides.map((side) => median(side[name].slice(-passes))))
    const rows = [
      ...grown('planning-fire', 'planning, for each fire', { unit: 'us', x: storedSchedules, y: fires }),
      ...grown('planning-pass', 'a planning pass that finds nothing', { unit: 'ms', x: storedSchedules, y: looks }),
      {
        id: 'planning-memory',
        what: `memory of a scheduler with ${shown(storedSchedules.at(-1))} schedules`,
        unit: 'MB',
        ours: rss / MB,
      },
    ]
    if (places.kind !== 'postgres') return rows
    const question = { lookaheadMs: LOOKAHEAD_MS + (passes + WARM_PASSES + 1) * 1000, times: 3 }
    const plans = []
    for (const { place } of sides) plans.push(await explainDue(place, question))
    const pages = { unit: '', x: storedSchedules, y: plans.map((plan) => plan.pages) }
    return [...rows, ...grown('due-pages', 'pages read by the look for what is due', pages)]
  } finally {
    for (const { store, place } of sides) {
      await store.close()
      await place.drop()
    }
  }
}

async function planningSide(places, count) {
  const place = await places.fresh()
  await place.seed({ count, everyMs: (count / DUE_PER_SECOND) * 1000, firstAt: Date.now() })
  const store = await place.open()
  let planned = 0
  const onFact = (fact) => {
    if (fact.kind === 'schedule.planned') planned += fact.runs
  }
  const pass = async (lookaheadMs) => {
    const planner = createPlanner({ planning: store.planning, leadership: alone, lookaheadMs, onFact })
    planned = 0
    const startedAt = performance.now()
    await planner.pass()
    return performance.now() - startedAt
  }
  const [fires, looks] = [[], []]
  return {
    place,
    store,
    fires,
    looks,
    pass,
    /** When each looks a second further ahead than the one before, a second's worth of schedules is due in each. */
    async look(lookaheadMs) {
      const ms = await pass(lookaheadMs)
      if (planned === 0) throw new Error(`no schedule of ${count} was due`)
      fires.push((ms * 1000) / planned)
      // All that is near was planned before.
      looks.push(await pass(0))
    },
  }
}

/** Of a process that plans these schedules as they come due. */
async function schedulerMemory(place, ms) {
  const process = await startProcess({ address: place.address, role: 'scheduler', concurrency: CONCURRENCY })
  try {
    await process.ask('start')
    await delay(ms)
    const { maxRss } = await process.ask('usage')
    await process.ask('stop')
    return maxRss
  } finally {
    await process.end()
  }
}

function grown(id, what, { unit, x, y }) {
  const series = { x, y, xLabel: 'schedules', yLabel: unit === '' ? 'pages' : unit }
  return [
    { id, what: `${what}, ${shown(x.at(-1))} schedules`, unit, ours: y.at(-1), series },
    { id: `${id}-growth`, what: `  as much as with ${shown(x[0])}`, unit: 'times', ours: y.at(-1) / y[0] },
  ]
}
