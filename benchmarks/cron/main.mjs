/** The cron benchmark: which questions are asked and what must hold; the targets are those the engine was built for. */
import { inFreshProcess, median, race } from '../harness.mjs'
import { nextWork, parseWork, prevWork, versions } from './contenders.mjs'
import { commonExpressions, randomDates } from './inputs.mjs'
import { slowestAnswer } from './worst.mjs'

export { versions }

const NEW_YORK = 'America/New_York'
const EXPRESSIONS = [
  { name: 'five-minutes', expression: '*/5 * * * *', times: 100 },
  { name: 'workdays', expression: '30 9 * * 1-5', times: 60 },
  { name: 'leap-day', expression: '0 0 29 2 *', times: 20 },
]
/** Far more than Everytick keeps interned. */
const DISTINCT = 50_000

const FULL = {
  rounds: 7,
  roundMs: 100,
  distinct: DISTINCT,
  expressions: 1500,
  instants: 24,
  schedules: 1_000_000,
  rivals: 10_000,
  zones: 400,
  processes: 5,
}
const QUICK = {
  rounds: 1,
  roundMs: 2,
  distinct: 12_000,
  expressions: 20,
  instants: 2,
  schedules: 5000,
  rivals: 500,
  zones: 5,
  processes: 1,
}

export async function run({ quick, note }) {
  const size = quick ? QUICK : FULL
  return [
    ...askRows(size, note),
    ...parseRows(size, note),
    ...worstRows(size, note),
    ...(await memoryRows(size, note)),
    ...(await coldRows(size, note)),
  ]
}

function askRows(size, note) {
  const dates = randomDates(4096)
  const rows = []
  for (const { name, expression, times } of EXPRESSIONS) {
    note(`next and prev of ${expression}`)
    const ratio = { kind: 'ratio', rival: 'croner', value: times }
    const nextNewYork = {
      id: `next-${name}-new-york`,
      what: `next  ${expression}  ${NEW_YORK}`,
      must: ratio,
      aim: 2_000_000,
    }
    const nextUtc = {
      id: `next-${name}-utc`,
      what: `next  ${expression}  UTC`,
      must: { kind: 'least', value: 1_000_000 },
    }
    const prevNewYork = { id: `prev-${name}-new-york`, what: `prev  ${expression}  ${NEW_YORK}`, must: null }
    rows.push(
      raceRow(nextNewYork, nextWork(expression, NEW_YORK, dates), size),
      raceRow(nextUtc, nextWork(expression, 'UTC', dates), size),
      raceRow(prevNewYork, prevWork(expression, NEW_YORK, dates), size),
    )
  }
  return rows
}

function parseRows(size, note) {
  const expressions = commonExpressions(size.distinct)
  return [NEW_YORK, 'UTC'].map((zone) => {
    note(`parse in ${zone}`)
    const id = `parse-${zone === 'UTC' ? 'utc' : 'new-york'}`
    const about = { id, what: `parse  ${size.distinct} different  ${zone}`, must: { kind: 'least', value: 200_000 } }
    return raceRow(about, parseWork(expressions, zone), size)
  })
}

function raceRow(about, works, size) {
  const { everytick, ...others } = race(works, size)
  const rivals = Object.entries(others).map(([name, { rate, ratio }]) => [name, { value: rate, ratio }])
  return { ...about, unit: '/s', ours: everytick.rate, rivals: Object.fromEntries(rivals) }
}

function worstRows(size, note) {
  note('slowest single answer')
  const found = slowestAnswer(size)
  return ['next', 'prev'].map((verb) => ({
    id: `worst-${verb}`,
    what: `slowest ${verb} of ${found.questions / 2}`,
    unit: 'ms',
    ours: found[verb].ms,
    rivals: {},
    must: { kind: 'most', value: 1 },
    question: found[verb].question,
  }))
}

/** Rivals keep one object per schedule, so theirs is measured on fewer and scaled up. */
async function memoryRows(size, note) {
  note('memory of a million schedules')
  const script = new URL('./memory.mjs', import.meta.url)
  const perMillion = async (...args) => {
    const { bytes, count } = await inFreshProcess(script, args)
    return (bytes / count) * (1_000_000 / 2 ** 20)
  }
  const timing = await perMillion('everytick', size.schedules, 'timing')
  const row = await perMillion('everytick', size.schedules, 'row')
  const rivals = {}
  for (const name of ['croner', 'cron-parser']) {
    const value = await perMillion(name, size.rivals, 'timing')
    rivals[name] = { value, ratio: value / timing }
  }
  const about = { unit: 'MB', must: { kind: 'most', value: 100 } }
  return [
    { id: 'memory-timings', what: 'a million timings, 500 different', ...about, ours: timing, rivals },
    { id: 'memory-rows', what: 'the same, each in a row object', ...about, ours: row, rivals: {} },
  ]
}

/** A zone is cold only once in a process, so several processes are asked and the least of them counts, zone by zone. */
async function coldRows(size, note) {
  note('first answer in each zone')
  const script = new URL('./cold-zone.mjs', import.meta.url)
  const runs = []
  for (let i = 0; i < size.processes; i++) runs.push(await inFreshProcess(script, [size.zones]))
  const least = (name) => {
    const zones = runs[0][name].rest.map((_, zone) => Math.min(...runs.map((run) => run[name].rest[zone])))
    const first = Math.min(...runs.map((run) => run[name].first))
    return { first, median: median(zones), worst: Math.max(...zones) }
  }
  const ours = least('everytick')
  const others = ['croner', 'cron-parser'].map((name) => [name, least(name)])
  const kinds = {
    first: 'first answer in a process',
    median: 'first answer in a zone',
    worst: 'first answer in the slowest zone',
  }
  return Object.entries(kinds).map(([kind, what]) => {
    const rivals = others.map(([name, ms]) => [name, { value: ms[kind], ratio: ms[kind] / ours[kind] }])
    return { id: `cold-${kind}`, what, unit: 'ms', ours: ours[kind], rivals: Object.fromEntries(rivals), must: null }
  })
}
