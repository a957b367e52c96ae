/** What a planner that has been there all along pays while somebody holds an old snapshot, beside one in an empty system: for each fire, and for a pass that finds nothing. */
import { growthRows, mean } from './growth.mjs'
import { besideHeld } from './held-snapshot.mjs'
import { openMeter } from './meter.mjs'
import { planningRounds } from './planning-rounds.mjs'
import { DUE_PER_SECOND, storedPlace } from './stored.mjs'

/** Seconds that are planned at once: less than any schedule has between two fires. */
const STEP_S = 5

export async function planningSnapshotRows(places, size, note) {
  const shown = size.heldRuns.toLocaleString('en')
  const { held, empty } = await besideHeld(() => openSide(places, size, note), size, note)
  const rows = (name, what) =>
    growthRows({
      id: `planning-snapshot-${name}`,
      what: `${what}, a snapshot held for more than ${shown} fires`,
      than: 'as much as in an empty system',
      x: [size.heldRuns],
      costs: [mean(held.map((turn) => turn[name]))],
      bases: [mean(empty.map((turn) => turn[name]))],
    })
  return [...rows('fire', 'planning one fire'), ...rows('pass', 'a planning pass that finds nothing')]
}

async function openSide(places, { plannedSchedules, heldRuns }, note) {
  const stored = await storedPlace(places, plannedSchedules)
  const meter = await openMeter(stored.place)
  const { turn, goOn } = planningRounds(meter, stored)
  return {
    place: stored.place,
    turn,
    async pass() {
      note(`${heldRuns.toLocaleString('en')} fires are planned while a snapshot is held`)
      for (let done = 0; done < heldRuns; done += STEP_S * DUE_PER_SECOND) await goOn(STEP_S)
    },
    async end() {
      await meter.close()
      await stored.place.drop()
    },
  }
}
