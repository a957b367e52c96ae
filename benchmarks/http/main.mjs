/** The benchmark of HTTP calls: one worker process calls a receiver, so many times a second, on a raster of due instants; how late calls arrive, and whether all of them do. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CONCURRENCY, everySecond } from '../core/load.mjs'
import { percentile } from '../core/turns.mjs'
import { MOST_LATE_MS, RATE, STORES } from './targets.mjs'

const FULL = { rate: RATE, seconds: 20, warmMs: 5000, afterMs: 3000, concurrency: CONCURRENCY }
const QUICK = { rate: 50, seconds: 1, warmMs: 500, afterMs: 1500, concurrency: CONCURRENCY }

export async function run({ quick, note, store, seconds }) {
  const size = { ...(quick ? QUICK : FULL), ...(seconds === undefined ? {} : { seconds }) }
  const rows = []
  const versions = { everytick: JSON.parse(readFileSync(new URL('../../package.json', import.meta.url))).version }
  for (const kind of store === undefined ? STORES : [store]) {
    const places = await openPlaces(kind, { quick })
    versions[kind] = places.version
    note(`${kind}: ${size.rate} calls a second for ${size.seconds} s`)
    try {
      const place = await places.fresh()
      try {
        rows.push(...(await measure(place, size)).map(rowOn(kind)))
      } finally {
        await place.drop()
      }
    } finally {
      await places.close()
    }
  }
  return { rows, versions, settings: size }
}

async function openPlaces(kind, how) {
  if (kind === 'sqlite') return (await import('../core/sqlite-place.mjs')).sqlitePlaces()
  return (await import('../core/postgres-place.mjs')).postgresPlaces(how)
}

async function measure(place, { rate, seconds, warmMs, afterMs, concurrency }) {
  const receiver = await started('receiver.mjs', {})
  const worker = await started('worker.mjs', { address: place.address, url: receiver.said.url, concurrency })
  try {
    const store = await place.open()
    await store.schedules.put(everySecond(rate, worker.said.job, Date.now()))
    await store.close()
    await worker.ask('start')
    await delay(warmMs)
    const fromAt = Date.now()
    const untilAt = fromAt + seconds * 1000
    // The last ones may still be on their way when the time is over.
    await delay(seconds * 1000 + afterMs)
    const { cpuMs, forMs } = await worker.ask('usage')
    const arrivals = await receiver.ask('arrivals')
    await worker.ask('stop')
    return rowsOf(arrivals, { rate, seconds, fromAt, untilAt, cpuShare: (cpuMs / forMs) * 100 })
  } finally {
    await worker.end()
    await receiver.end()
  }
}

/** Arrivals are of a run, its due instant, and how late it came. A run that came twice counts once, by its first call. */
function rowsOf(arrivals, { rate, seconds, fromAt, untilAt, cpuShare }) {
  const late = new Map()
  for (const [run, dueAt, lateMs] of arrivals) {
    if (dueAt >= fromAt && dueAt < untilAt && !late.has(run)) late.set(run, lateMs)
  }
  const values = [...late.values()]
  const row = (part, about) => ({ id: `http-${rate}-${part}`, unit: 'ms', rivals: {}, must: null, ...about })
  const must = { kind: 'most', value: MOST_LATE_MS }
  return [
    row('p50', { what: `lateness at ${rate} calls/s, p50`, ours: percentile(values, 0.5) }),
    row('p99', { what: '  p99', ours: percentile(values, 0.99), must }),
    row('arrived', {
      what: '  arrived of those due',
      unit: '%',
      ours: (values.length / (rate * seconds)) * 100,
      must: { kind: 'least', value: 100 },
    }),
    row('cpu', { what: '  CPU of the worker', unit: '% of a core', ours: cpuShare }),
  ]
}

const rowOn = (store) => (row) => ({
  ...row,
  id: `${store}-${row.id}`,
  what: `${(row.what.startsWith(' ') ? '' : store).padEnd(10)}${row.what}`,
})

/** A process of its own, which says something when it is ready and answers what it is asked. */
async function started(script, options) {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = fork(path, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  const answer = async () => {
    const gone = exited.then(([code]) => Promise.reject(new Error(`${script} ended with code ${code}`)))
    const [message] = await Promise.race([once(child, 'message'), gone])
    return message
  }
  return {
    said: await answer(),
    ask(question) {
      child.send(question)
      return answer()
    },
    async end() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
