/** What a run, a fire and a planning pass cost by the number of finished runs, each beside the same in a system where next to nothing has happened. */
import { churn } from './churn.mjs'
import { claimFair } from './claim-fair.mjs'
import { growthRows, least } from './growth.mjs'
import { openMeter } from './meter.mjs'
import { planningRounds } from './planning-rounds.mjs'
import { storedPlace } from './stored.mjs'

/** So much has passed through an "empty" system too: its pages and plans are no longer new. */
const WARM_RUNS = 1000
const shown = (count) => count.toLocaleString('en')
const NAMES = ['claim', 'settle', 'fire', 'pass']

export async function historyRows(places, size, note) {
  const made = []
  try {
    for (let i = 0; i < 2; i++) made.push(await storedPlace(places, size.plannedSchedules))
    const [empty, side] = made
    for (const { place } of made) await passing(place, WARM_RUNS)
    const found = []
    let finished = WARM_RUNS
    for (const count of size.finishedRuns) {
      const churned = Math.max(0, Math.min(count, size.churnedRuns) - finished)
      const copied = Math.max(0, count - finished - churned)
      note(`${shown(count)} finished runs: ${shown(churned)} more pass, ${shown(copied)} more are copied`)
      await passing(side.place, churned)
      await side.place.copyHistory(copied)
      finished += churned + copied
      note(`a run, a fire and a pass after ${shown(count)} finished runs`)
      found.push(await beside(empty, side, size))
    }
    return rowsOf(size.finishedRuns, found)
  } finally {
    for (const { place } of made) await place.drop()
  }
}

/** Lets runs pass, with all that they leave behind. */
async function passing(place, count) {
  const store = await place.open()
  await churn(store, count)
  await store.close()
}

/** In turns, so that a slow moment of the machine hits both alike; the first round warms up and is dropped. */
async function beside(empty, side, { claims, claimRounds }) {
  const ways = []
  try {
    for (const stored of [empty, side]) {
      const meter = await openMeter(stored.place)
      ways.push({ meter, runs: claimFair(meter, { claims }), planning: planningRounds(meter, stored), seen: [] })
    }
    for (let round = 0; round <= claimRounds; round++) {
      for (const { runs, planning, seen } of ways) seen.push({ ...(await runs.turn()), ...(await planning.turn()) })
    }
  } finally {
    for (const { meter } of ways) await meter.close()
  }
  const [before, after] = ways.map(({ seen }) =>
    Object.fromEntries(NAMES.map((name) => [name, least(seen.slice(1).map((turn) => turn[name]))])),
  )
  return { before, after }
}

function rowsOf(counts, found) {
  /** The line through all sizes stands with the last one. */
  const rows = (id, what, { name, from = 0, to = counts.length }) =>
    growthRows({
      id,
      what: `${what} after ${shown(counts[to - 1])} finished runs`,
      than: 'as much as in an empty system',
      x: counts.slice(from, to),
      xLabel: 'finished runs',
      costs: found.slice(from, to).map(({ after }) => after[name]),
      bases: found.slice(from, to).map(({ before }) => before[name]),
    })
  const last = counts.length - 1
  return [
    ...rows(`claim-${counts[last - 1]}`, 'claiming a run', { name: 'claim', from: last - 1, to: last }),
    ...rows(`claim-${counts[last]}`, 'claiming a run', { name: 'claim' }),
    ...rows('history-settle', 'settling a run', { name: 'settle' }),
    ...rows('history-fire', 'planning one fire', { name: 'fire' }),
    ...rows('history-pass', 'a planning pass that finds nothing', { name: 'pass' }),
  ]
}
