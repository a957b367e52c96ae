/** What a claim costs by the number of finished runs, and while somebody holds an old snapshot, beside the same in an empty system. */
import { median } from '../harness.mjs'
import { churn, fill, settleAll } from './churn.mjs'
import { explainClaim } from './explain.mjs'

const EACH = 100
const REQUEST = { workerId: 'churn', leaseMs: 60_000, wanted: [{ queue: 'default', limit: EACH }] }
const EXPLAINED = 5
/** So much has passed through an "empty" system too: its pages and plans are no longer new. */
const WARM_RUNS = 1000

export async function claimRows(places, size, note) {
  const empty = await openSide(places, size)
  try {
    await empty.pass(WARM_RUNS)
    const at = { places, empty, note }
    return [...(await afterRows(at, size)), ...(await snapshotRows(at, size))]
  } finally {
    await empty.end()
  }
}

async function afterRows({ places, empty, note }, size) {
  const { finishedRuns, churnedRuns, claimRounds } = size
  const side = await openSide(places, size)
  try {
    const found = []
    let finished = 0
    for (const count of finishedRuns) {
      note(`${places.kind}: a claim after ${count} finished runs`)
      const passing = Math.max(0, Math.min(count, churnedRuns) - finished)
      await side.pass(passing)
      await side.place.copyHistory(count - finished - passing)
      finished = count
      found.push(await beside(empty, side, claimRounds))
    }
    return finishedRuns.flatMap((count, i) => {
      const what = `a claim of ${EACH} after ${count.toLocaleString('en')} finished runs`
      const last = i === finishedRuns.length - 1
      // The two largest are held to something; the line through all of them stands with the last.
      if (!last && i < finishedRuns.length - 2) return []
      return rowsOf(
        `claim-${count}`,
        what,
        last ? { counts: finishedRuns, found } : { counts: [count], found: [found[i]] },
      )
    })
  } finally {
    await side.end()
  }
}

async function snapshotRows({ places, empty, note }, size) {
  const { heldRuns, claimRounds } = size
  note(`${places.kind}: a claim after ${heldRuns} runs under a snapshot that is held`)
  const side = await openSide(places, size)
  let release = async () => {}
  try {
    await side.pass(WARM_RUNS)
    release = await side.place.holdSnapshot()
    await side.pass(heldRuns)
    const found = await beside(empty, side, claimRounds)
    const what = `a claim of ${EACH}, a snapshot held for ${heldRuns.toLocaleString('en')} runs`
    return rowsOf('claim-snapshot', what, { counts: [heldRuns], found: [found] })
  } finally {
    await release()
    await side.end()
  }
}

async function openSide(places, { claims }) {
  const place = await places.fresh()
  const [{ store, cpuUs, close }, others] = [await place.metered(), await place.open()]
  return {
    place,
    /** Lets runs pass by connections of their own, as those of other processes would. */
    pass: (count) => churn(others, count),
    /** CPU of one claim where the database works, or null where nobody tells. */
    async claimUs() {
      await fill(store, claims * EACH)
      const granted = []
      const before = cpuUs()
      for (let i = 0; i < claims; i++) granted.push(...(await store.claims.claim(REQUEST)).runs)
      const after = cpuUs()
      await settleAll(store, granted)
      if (granted.length !== claims * EACH) throw new Error(`${granted.length} of ${claims * EACH} runs were granted`)
      return before === null ? null : (after - before) / claims
    },
    async pages() {
      await fill(store, (EXPLAINED + 1) * EACH)
      return (await explainClaim(place, { times: EXPLAINED })).pages
    },
    async end() {
      await close()
      await others.close()
      await place.drop()
    },
  }
}

/** In turns, so that a slow moment of the machine hits both alike; the first round warms up and is dropped. */
async function beside(empty, side, rounds) {
  const seen = { empty: [], side: [] }
  for (let round = 0; round <= rounds; round++) {
    const turn = { empty: await empty.claimUs(), side: await side.claimUs() }
    if (round === 0) continue
    seen.empty.push(turn.empty)
    seen.side.push(turn.side)
  }
  const us = seen.side[0] === null ? null : median(seen.side)
  const pages = empty.place.address.kind === 'postgres' ? await side.pages() : null
  return {
    us,
    usGrowth: us === null ? null : us / median(seen.empty),
    pages,
    pagesGrowth: pages === null ? null : pages / (await empty.pages()),
  }
}

function rowsOf(id, what, { counts, found }) {
  const { us, usGrowth, pages, pagesGrowth } = found.at(-1)
  const line = (name, yLabel) =>
    counts.length < 2
      ? {}
      : { series: { x: counts, y: found.map((each) => each[name]), xLabel: 'finished runs', yLabel } }
  const growth = (part, of, ours) => ({
    id: `${id}${part}-growth`,
    what: `  ${of}, as much as in an empty system`,
    unit: 'times',
    ours,
  })
  const cpu = [{ id, what: `${what}, CPU`, unit: 'us', ours: us, ...line('us', 'us') }, growth('', 'CPU', usGrowth)]
  const read = [
    { id: `${id}-pages`, what: '  pages', unit: '', ours: pages, ...line('pages', 'pages') },
    growth('-pages', 'pages', pagesGrowth),
  ]
  return [...(us === null ? [] : cpu), ...(pages === null ? [] : read)]
}
