/** The slowest single answer over many hostile questions. The least of five repeats counts, so that a pause of the machine does not. */
import { parseCron } from 'everytick/cron'
import { hardExpressions, hardInstants } from './inputs.mjs'

const ZONES = [
  'UTC',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Pacific/Apia',
  'America/Santiago',
]
const REPEATS = 5

export function slowestAnswer({ expressions, instants }) {
  const dates = hardInstants(instants)
  const slowest = { next: { ms: 0, question: '' }, prev: { ms: 0, question: '' } }
  let asked = 0
  for (const expression of hardExpressions(expressions)) {
    for (const timezone of ZONES) {
      const timing = parseCron(expression, { timezone, seed: 'bench' })
      asked++
      for (const date of dates) {
        for (const verb of ['next', 'prev']) {
          const ms = leastMs(timing, verb, date)
          if (ms > slowest[verb].ms)
            slowest[verb] = { ms, question: `${expression} ${timezone} ${verb}(${date.toISOString()})` }
        }
      }
    }
  }
  return { ...slowest, questions: asked * dates.length * 2 }
}

function leastMs(timing, verb, date) {
  let least = Number.POSITIVE_INFINITY
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const startedAt = performance.now()
    timing[verb](date)
    least = Math.min(least, performance.now() - startedAt)
  }
  return least
}
