/** What a worker that has been there all along pays for its claims while somebody holds an old snapshot, beside one in an empty system. */
import { claimFair } from './claim-fair.mjs'
import { growthRows, mean } from './growth.mjs'
import { besideHeld } from './held-snapshot.mjs'
import { openMeter } from './meter.mjs'

export async function claimSnapshotRows(places, size, note) {
  const shown = size.heldRuns.toLocaleString('en')
  const { held, empty } = await besideHeld(async () => openSide(await places.fresh(), size, note), size, note)
  return growthRows({
    id: 'claim-snapshot',
    what: `claiming a run, a snapshot held for more than ${shown} runs`,
    than: 'as much as in an empty system',
    x: [size.heldRuns],
    costs: [mean(held)],
    bases: [mean(empty)],
  })
}

async function openSide(place, { claims, heldRuns }, note) {
  const [meter, others] = [await openMeter(place), await place.open()]
  // What other processes enqueue and settle is none of a claim's cost.
  const { runs, turn } = claimFair(meter, { claims, others })
  return {
    place,
    turn: async () => (await turn()).claim,
    async pass() {
      note(`${heldRuns.toLocaleString('en')} runs pass while a snapshot is held`)
      for (let done = 0; done < heldRuns; done += runs) await turn()
    },
    async end() {
      await meter.close()
      await others.close()
      await place.drop()
    },
  }
}
