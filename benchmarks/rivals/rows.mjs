/** What the race asks, in which unit, and how far ahead we must be; turns its turns into rows of the report. */
import { bestOf, summary, timesBetter } from './race.mjs'

const FASTER = { unit: '/s', better: 'more' }
const CHEAPER = { unit: 'us', better: 'less' }
const SOONER = { unit: 'ms', better: 'less' }

/** The pick-up is held against this one, whose promise of durability is ours. */
const PICK_UP_RIVAL = 'graphile-worker'
/** Of all that can say "many schedules at one instant", the quickest when this was decided. */
const BACKLOG_RIVAL = 'bullmq'

/**
 * `must` is how many times better we have to be than the best rival, or than `rival`, by store; none when that one is away;
 * `aim` is what we would like, in the unit of the question. What must be reached whatever the rivals do stands in
 * `core/targets.mjs`.
 */
const QUESTIONS = [
  ask('enqueue', 'enqueue in bulk', FASTER, {
    must: { postgres: 2.5, sqlite: 2 },
    aim: { postgres: 1e5, sqlite: 4e4 },
  }),
  ask('enqueue-single', 'enqueue, one at a time', FASTER),
  ask('drain-1', 'drain, 1 process', FASTER, { must: { postgres: 2, sqlite: 2 }, aim: { postgres: 6e4, sqlite: 4e4 } }),
  ask('drain-1-cpu', 'CPU for each run, worker and server', CHEAPER, { must: { postgres: 1 }, aim: { postgres: 30 } }),
  ask('drain-1-cpu-worker', 'CPU for each run, worker', CHEAPER, { aim: { postgres: 10 } }),
  ask('drain-1-cpu-server', 'CPU for each run, server', CHEAPER, { aim: { postgres: 20 } }),
  ask('drain-2', 'drain, 2 processes', FASTER, { must: { postgres: 2 }, aim: { postgres: 7e4 } }),
  ask('drain-2-backlog', 'drain a backlog, 2 processes', FASTER, { must: { postgres: 2 }, aim: { postgres: 7e4 } }),
  ask('pick-up-p50', 'pick-up of a single run, p50', SOONER, {
    must: { postgres: 1 },
    rival: PICK_UP_RIVAL,
    aim: { postgres: 2 },
  }),
  ask('pick-up-p99', 'pick-up of a single run, p99', SOONER, {
    must: { postgres: 1 },
    rival: PICK_UP_RIVAL,
    aim: { postgres: 5 },
  }),
  ask('create', 'create schedules', FASTER, { aim: { postgres: 1e5 } }),
  ask('backlog-1000-p99', '1,000 schedules due at once, p99 of lateness', SOONER, { aim: { postgres: 50 } }),
  ask('backlog-1000-last', '1,000 schedules due at once, the last start', SOONER),
  ask('backlog-10000-p99', '10,000 schedules due at once, p99 of lateness', SOONER),
  ask('backlog-10000-last', '10,000 schedules due at once, the last start', SOONER, {
    must: { postgres: 4 },
    rival: BACKLOG_RIVAL,
    aim: { postgres: 400 },
  }),
]

function ask(id, what, kind, { must = {}, aim = {}, rival } = {}) {
  return { id, what, ...kind, must, aim, rival }
}

export function rowsOf(store, seen) {
  const { everytick: ours = {}, ...others } = seen
  return QUESTIONS.filter(({ id }) => ours[id] !== undefined).map(({ id, what, unit, better, must, aim, rival }) => {
    const rivals = {}
    for (const [name, found] of Object.entries(others)) {
      if (found[id] === undefined) continue
      rivals[name] = { ...summary(found[id]), ratio: timesBetter(ours[id], found[id], better) }
    }
    const best = bestOf(rivals)
    const against = rival === undefined ? best : rival in rivals ? rival : null
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
      better,
      ...(aim[store] === undefined ? {} : { aim: aim[store] }),
    }
  })
}
