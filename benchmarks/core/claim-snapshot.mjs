/**
 * What a worker that has been there all along pays for its claims while somebody holds an old snapshot, beside one in an
 * empty system. Both work without a pause; the mean over some seconds counts, so that the looks from the very beginning,
 * which are dear and rare, are in it as often as they come.
 */
import { claimTurns } from './claim-turns.mjs'
import { growthRows, mean } from './growth.mjs'
import { openMeter } from './meter.mjs'

const shown = (count) => count.toLocaleString('en')

export async function snapshotRows(places, size, note) {
  const sides = []
  let release = async () => {}
  try {
    for (let i = 0; i < 2; i++) sides.push(await openSide(await places.fresh(), size))
    const [empty, held] = sides
    for (const side of sides) await side.work({ turns: 1 })
    release = await held.place.holdSnapshot()
    note(`${shown(size.heldRuns)} runs pass while a snapshot is held`)
    await held.work({ turns: Math.ceil(size.heldRuns / held.runs) })
    note(
      `claims while a snapshot is held, ${size.stretchRounds} times ${size.stretchMs / 1000} s, and in an empty system`,
    )
    const seen = { empty: [], held: [] }
    for (let round = 0; round < size.stretchRounds; round++) {
      seen.empty.push(...(await empty.work({ ms: size.stretchMs })))
      seen.held.push(...(await held.work({ ms: size.stretchMs })))
    }
    return growthRows({
      id: 'claim-snapshot',
      what: `claiming a run, a snapshot held for more than ${shown(size.heldRuns)} runs`,
      than: 'as much as in an empty system',
      x: [size.heldRuns],
      costs: [mean(seen.held)],
      bases: [mean(seen.empty)],
    })
  } finally {
    await release()
    for (const side of sides) await side.end()
  }
}

async function openSide(place, { claims }) {
  const [meter, others] = [await openMeter(place), await place.open()]
  // What other processes enqueue and settle is none of a claim's cost.
  const { runs, turn } = claimTurns(meter, { claims, others })
  return {
    place,
    runs,
    /** So many turns, or as many as begin within so many milliseconds. Answers the cost of the claims, turn by turn. */
    async work({ turns = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY }) {
      const seen = []
      const startedAt = performance.now()
      while (seen.length < turns && (seen.length === 0 || performance.now() - startedAt < ms))
        seen.push((await turn()).claim)
      return seen
    },
    async end() {
      await meter.close()
      await others.close()
      await place.drop()
    },
  }
}
