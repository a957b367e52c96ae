/** What must not grow: the cost of planning with the number of stored schedules, and the cost of a claim with the number of finished runs. */
import { setTimeout as delay } from 'node:timers/promises'
import { createPlanner } from '../../dist/engine/planner.js'
import { median } from '../harness.mjs'
import { churn, fill } from './churn.mjs'
import { explainClaim, explainDue } from './explain.mjs'
import { CONCURRENCY } from './load.mjs'
import { startProcess } from './processes.mjs'

const MB = 2 ** 20
const DUE_PER_SECOND = 100
const LOOKAHEAD_MS = 10_000
const WARM_PASSES = 5

export async function growthRows(places, size, note) {
  const rows = [await planningRows(places, size, note)]
  if (places.kind === 'postgres') rows.push(await claimRows(places, size, note))
  return rows.flat()
}

async function planningRows(places, { fewSchedules, manySchedules, passes, schedulerMs }, note) {
  const shown = manySchedules.toLocaleString('en')
  note(`${places.kind}: planning with ${fewSchedules} and with ${shown} schedules, ${DUE_PER_SECOND} due a second`)
  const sides = []
  try {
    for (const count of [fewSchedules, manySchedules]) sides.push(await planningSide(places, count))
    const [few, many] = sides
    // What came due while the tables were filled is none of a steady load.
    for (const side of sides) await side.pass(0)
    const rss = await schedulerMemory(many.place, schedulerMs)
    for (let second = 1; second <= passes + WARM_PASSES; second++) {
      for (const side of sides) await side.pass(LOOKAHEAD_MS + second * 1000)
    }
    const [fewMs, manyMs] = sides.map(({ times }) => median(times.slice(-passes)))
    const rows = [
      {
        id: 'planning-pass',
        what: `a planning pass of ${DUE_PER_SECOND}, ${shown} schedules`,
        unit: 'ms',
        ours: manyMs,
        rivals: {},
        must: null,
      },
      {
        id: 'planning-growth',
        what: `  as much as with ${fewSchedules.toLocaleString('en')}`,
        unit: 'times',
        ours: manyMs / fewMs,
        rivals: {},
        // SQLite writes whole pages, and a hundred cursors among many stand on more of them.
        must: places.kind === 'postgres' ? { kind: 'most', value: 1.5 } : null,
        few: fewMs,
      },
      {
        id: 'planning-memory',
        what: '  memory of a scheduler',
        unit: 'MB',
        ours: rss / MB,
        rivals: {},
        must: { kind: 'most', value: 200 },
      },
    ]
    if (places.kind === 'postgres') {
      const question = { lookaheadMs: LOOKAHEAD_MS + (passes + WARM_PASSES + 1) * 1000, times: 3 }
      const [fewPlan, manyPlan] = [await explainDue(few.place, question), await explainDue(many.place, question)]
      rows.push(
        ...pagesRows('due', `  pages read by the look for what is due, ${shown}`, { few: fewPlan, many: manyPlan }),
      )
    }
    return rows
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
  const leadership = { leads: async () => true, release: async () => {} }
  const times = []
  return {
    place,
    store,
    times,
    /** When each looks a second further ahead than the one before, a second's worth of schedules is due in each. */
    async pass(lookaheadMs) {
      const planner = createPlanner({ planning: store.planning, leadership, lookaheadMs, onFact: () => {} })
      const startedAt = performance.now()
      await planner.pass()
      times.push(performance.now() - startedAt)
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

async function claimRows(places, { fewFinished, manyFinished, claims }, note) {
  const shown = manyFinished.toLocaleString('en')
  note(`${places.kind}: a claim after ${fewFinished} and after ${shown} finished runs`)
  const place = await places.fresh()
  const store = await place.open()
  try {
    const after = async (finished) => {
      await churn(store, finished)
      await fill(store, 1000)
      return explainClaim(place, { times: claims })
    }
    const few = await after(fewFinished)
    const many = await after(manyFinished)
    return pagesRows('claim', `pages touched by a claim of 100 after ${shown} runs`, { few, many })
  } finally {
    await store.close()
    await place.drop()
  }
}

/** The indexes are kept for whoever reads the saved result. */
function pagesRows(id, what, { few, many }) {
  const ratio = many.pages / few.pages
  const growth = { id: `${id}-growth`, what: '  as many as in a small system', unit: 'times', rivals: {} }
  return [
    {
      id: `${id}-pages`,
      what,
      unit: '',
      ours: many.pages,
      rivals: {},
      must: null,
      few: few.pages,
      indexes: many.indexes,
    },
    { ...growth, ours: ratio, must: { kind: 'most', value: 2 } },
  ]
}
