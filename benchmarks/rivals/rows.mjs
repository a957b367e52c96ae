/** What the race asks, in which unit, and how far ahead we must be; turns its turns into rows of the report. */
import { bestOf, summary, timesBetter } from './race.mjs'

const FASTER = { unit: '/s', better: 'more' }
const CHEAPER = { unit: 'us', better: 'less' }
const SOONER = { unit: 'ms', better: 'less' }

/** `must` is how many times better than the best rival we have to be, by store. */
const QUESTIONS = [
  { id: 'enqueue', what: 'enqueue, 1,000 at a time', ...FASTER, must: { postgres: 2.5, sqlite: 2 } },
  { id: 'drain-1', what: 'drain, 1 process', ...FASTER, must: { postgres: 2, sqlite: 2 } },
  { id: 'drain-1-cpu-worker', what: 'CPU for each run, worker', ...CHEAPER, must: { postgres: 1 } },
  { id: 'drain-1-cpu-server', what: 'CPU for each run, server', ...CHEAPER, must: { postgres: 1 } },
  { id: 'drain-2', what: 'drain, 2 processes', ...FASTER, must: { postgres: 2 } },
  { id: 'pick-up-p50', what: 'pick-up of a single run, p50', ...SOONER, must: { postgres: 1 } },
  { id: 'pick-up-p99', what: 'pick-up of a single run, p99', ...SOONER, must: { postgres: 1 } },
  { id: 'create', what: 'create schedules', ...FASTER, must: {} },
]

/** The pick-up is held against this one, whose promise of durability is ours. */
const PICK_UP_RIVAL = 'graphile-worker'

export function rowsOf(store, seen) {
  const { everytick: ours = {}, ...others } = seen
  return QUESTIONS.filter(({ id }) => ours[id] !== undefined).map(({ id, what, unit, better, must }) => {
    const rivals = {}
    for (const [name, found] of Object.entries(others)) {
      if (found[id] === undefined) continue
      rivals[name] = { ...summary(found[id]), ratio: timesBetter(ours[id], found[id], better) }
    }
    const best = bestOf(rivals)
    const against = id.startsWith('pick-up') && PICK_UP_RIVAL in rivals ? PICK_UP_RIVAL : best
    const { value, spread, rounds } = summary(ours[id])
    const asked = must[store] !== undefined && against !== null
    return {
      id: `${store}-${id}`,
      what: `${store.padEnd(10)}${what}`,
      unit,
      ours: value,
      spread,
      rounds,
      rivals,
      best,
      must: asked ? { kind: 'ratio', rival: against, value: must[store] } : null,
    }
  })
}
