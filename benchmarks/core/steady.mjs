/** How late runs start under a steady load: schedules of one second each, due instants spread over the second, one process that plans and works. */
import { setTimeout as delay } from 'node:timers/promises'
import { CONCURRENCY, everySecond, tickJob } from './load.mjs'
import { startProcess } from './processes.mjs'
import { percentile } from './turns.mjs'

const BATCH = 1000

export async function steadyRows(places, size, note) {
  const rows = []
  for (const rate of size.firesPerSecond) {
    note(`${rate} fires/s for ${size.steadyMs / 1000} s`)
    const place = await places.fresh()
    try {
      rows.push(...(await steady(place, rate, size)))
    } finally {
      await place.drop()
    }
  }
  return rows
}

async function steady(place, rate, { warmMs, steadyMs, afterMs }) {
  const store = await place.open()
  const schedules = everySecond(rate, tickJob([]), Date.now())
  for (let i = 0; i < rate; i += BATCH) await store.schedules.put(schedules.slice(i, i + BATCH))
  await store.close()
  const process = await startProcess({ address: place.address, concurrency: CONCURRENCY })
  try {
    await process.ask('start')
    await delay(warmMs)
    const fromAt = Date.now()
    const untilAt = fromAt + steadyMs
    // The last ones may still be on their way when the time is over.
    await delay(steadyMs + afterMs)
    const late = latenessBetween(await process.ask('ticks'), fromAt, untilAt)
    await process.ask('stop')
    return rowsOf(late, { rate, expected: (rate * steadyMs) / 1000 })
  } finally {
    await process.end()
  }
}

/** Ticks are pairs of due instant and lateness. */
function latenessBetween(ticks, fromAt, untilAt) {
  const late = []
  for (let i = 0; i < ticks.length; i += 2) if (ticks[i] >= fromAt && ticks[i] < untilAt) late.push(ticks[i + 1])
  return late
}

function rowsOf(late, { rate, expected }) {
  const [p50, p99] = [percentile(late, 0.5), percentile(late, 0.99)]
  const row = (part, about) => ({ id: `steady-${rate}-${part}`, unit: 'ms', ...about })
  return [
    row('p50', { what: `lateness at ${rate.toLocaleString('en')} fires/s, p50`, ours: p50 }),
    row('p99', { what: '  p99', ours: p99 }),
    row('started', { what: '  started of those due', unit: '%', ours: (late.length / expected) * 100 }),
  ]
}
