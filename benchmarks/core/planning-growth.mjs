/** What planning costs by the number of stored schedules, at the same load: for each fire, and for a pass that finds nothing; CPU of planner and server together. */
import { growthRows, least } from './growth.mjs'
import { openMeter } from './meter.mjs'
import { planningRounds } from './planning-rounds.mjs'
import { DUE_PER_SECOND } from './stored.mjs'

/** Of a runtime and of prepared statements that were used before. */
const WARM_PASSES = 10
/**
 * Postgres logs a page as a whole when it is first written after a checkpoint, and seeding ends with one: what comes next meets a
 * page that was not written yet with every fire, the more schedules the surer. Half of the five minutes between two
 * checkpoints later it is what it is on the average.
 */
const SINCE_CHECKPOINT_S = 150
const shown = (count) => count.toLocaleString('en')

export async function planningRows(places, { storedSchedules, passes }, note) {
  const sides = []
  try {
    for (const count of storedSchedules) {
      const stored = await places.stored(count)
      const meter = await openMeter(stored.place)
      sides.push({ meter, place: stored.place, turns: planningRounds(meter, stored), seen: [] })
    }
    note(`planning with ${storedSchedules.map(shown).join(', ')} schedules, ${DUE_PER_SECOND} due a second`)
    for (const { place, turns } of sides) {
      await turns.goOn(SINCE_CHECKPOINT_S)
      await place.tidyPlans()
    }
    // In turns, so that a slow moment of the machine hits all sizes alike.
    for (let i = 0; i < passes + WARM_PASSES; i++) for (const { turns, seen } of sides) seen.push(await turns.turn())
  } finally {
    for (const { meter } of sides) await meter.close()
  }
  const [few, many] = [shown(storedSchedules[0]), shown(storedSchedules.at(-1))]
  const rows = (id, what, name) =>
    growthRows({
      id,
      what: `${what} with ${many} stored schedules`,
      than: `as much as with ${few}`,
      x: storedSchedules,
      xLabel: 'stored schedules',
      costs: sides.map(({ seen }) => least(seen.slice(-passes).map((turn) => turn[name]))),
    })
  return [
    ...rows('planning-fire', 'planning one fire', 'fire'),
    ...rows('planning-pass', 'a planning pass that finds nothing', 'pass'),
  ]
}
