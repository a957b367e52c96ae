/** What a process that plans and works costs while nothing is due, by the number of stored schedules. */
import { setTimeout as delay } from 'node:timers/promises'
import { CONCURRENCY } from './load.mjs'
import { shareOfCore, startProcess } from './processes.mjs'

const YEAR_MS = 31_536_000_000
const MB = 2 ** 20

export async function idleRows(places, size, note) {
  const rows = []
  for (const count of size.idleSchedules) {
    note(`${places.kind}: idle with ${count} schedules for ${size.idleMs / 1000} s`)
    const place = await places.fresh()
    try {
      await place.seed({ count, everyMs: YEAR_MS, firstAt: Date.now() + YEAR_MS })
      rows.push(...(await idle(place, count, size)))
    } finally {
      await place.drop()
    }
  }
  return rows
}

async function idle(place, count, { settleMs, idleMs }) {
  const process = await startProcess({ address: place.address, concurrency: CONCURRENCY })
  try {
    await process.ask('start')
    // The runtime compiles and collects for some seconds after a start.
    await delay(settleMs)
    const { own, server } = await shareOfCore(process, place, idleMs)
    const { rss } = await process.ask('usage')
    await process.ask('stop')
    const row = (part, about) => ({ id: `idle-${count}-${part}`, unit: '%', rivals: {}, must: null, ...about })
    const most = { kind: 'most', value: 0.5 }
    const rows = [
      row('cpu', { what: `idle with ${count.toLocaleString('en')} schedules, CPU`, ours: own, must: most }),
      row('memory', { what: '  memory', unit: 'MB', ours: rss / MB }),
    ]
    if (server !== null) rows.splice(1, 0, row('server', { what: '  CPU of the server', ours: server, must: most }))
    return rows
  } finally {
    await process.end()
  }
}
