/** What a process that plans and works costs while nothing is due, by the number of stored schedules. */
import { setTimeout as delay } from 'node:timers/promises'
import { CONCURRENCY } from './load.mjs'
import { shareOfCore, startProcess } from './processes.mjs'

const YEAR_MS = 31_536_000_000
const MB = 2 ** 20

export async function idleRows(places, size, note) {
  const found = []
  for (const count of size.idleSchedules) {
    note(`${places.kind}: idle with ${count} schedules for ${size.idleMs / 1000} s`)
    const place = await places.fresh()
    try {
      await place.seed({ count, everyMs: YEAR_MS, firstAt: Date.now() + YEAR_MS })
      found.push({ count, ...(await idle(place, size)) })
    } finally {
      await place.drop()
    }
  }
  const [few, many] = [found[0], found.at(-1)]
  const rows = found.flatMap(rowsOf)
  return few === many ? rows : [...rows, growthRow(few, many)]
}

async function idle(place, { settleMs, idleMs }) {
  const process = await startProcess({ address: place.address, concurrency: CONCURRENCY })
  try {
    await process.ask('start')
    // The runtime compiles and collects for some seconds after a start.
    await delay(settleMs)
    const share = await shareOfCore(process, place, idleMs)
    const { rss } = await process.ask('usage')
    await process.ask('stop')
    return { ...share, rss }
  } finally {
    await process.end()
  }
}

function rowsOf({ count, own, server, rss }) {
  const row = (part, about) => ({ id: `idle-${count}-${part}`, unit: '%', ...about })
  return [
    row('cpu', { what: `idle with ${count.toLocaleString('en')} schedules, CPU`, ours: own }),
    ...(server === null ? [] : [row('server', { what: '  CPU of the server', ours: server })]),
    row('memory', { what: '  memory', unit: 'MB', ours: rss / MB }),
  ]
}

const growthRow = (few, many) => ({
  id: 'idle-memory-growth',
  what: `  memory, as much as with ${few.count.toLocaleString('en')}`,
  unit: 'times',
  ours: many.rss / few.rss,
})
