/** What a process costs by being there: memory before and after work, the time until its first run starts, and the time to load the door. */
import { fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inFreshProcess, median } from '../harness.mjs'
import { fill } from './churn.mjs'
import { counter } from './counter.mjs'
import { CONCURRENCY } from './load.mjs'
import { startProcess } from './processes.mjs'

const MB = 2 ** 20
const FIRST_RUN = fileURLToPath(new URL('./first-run.mjs', import.meta.url))

export async function footprintRows(places, size, note) {
  note('memory and start of a process')
  const place = await places.fresh()
  const store = await place.open()
  try {
    const memory = await memoryRows(place, store, size)
    return [...memory, ...(await startRows(place, store, size))]
  } finally {
    await store.close()
    await place.drop()
  }
}

async function memoryRows(place, store, { runs, settleMs }) {
  const settled = counter('settled')
  const process = await startProcess({ address: place.address, concurrency: CONCURRENCY }, { settled: settled.add })
  try {
    await process.ask('start')
    await delay(settleMs)
    const idle = await process.ask('usage')
    const all = settled.reached(runs)
    await fill(store, runs)
    await all
    const after = await process.ask('usage')
    await process.ask('stop')
    const row = (part, what, bytes) => ({ id: `memory-${part}`, what, unit: 'MB', ours: bytes / MB })
    return [
      row('idle', 'memory of a process that plans and works, idle', idle.rss),
      row('drained', `  after ${runs.toLocaleString('en')} runs`, after.rss),
      row('peak', '  at most', after.maxRss),
    ]
  } finally {
    await process.end()
  }
}

async function startRows(place, store, { starts }) {
  const [doors, firsts] = [[], []]
  for (let i = 0; i < starts; i++) {
    doors.push(await inFreshProcess(new URL('./door.mjs', import.meta.url)))
    await fill(store, 1)
    firsts.push(await firstRun(place.address))
  }
  return [
    { id: 'start-first-run', what: 'from the start of a process to its first run', unit: 'ms', ours: median(firsts) },
    { id: 'start-import', what: '  to load the door of the package', unit: 'ms', ours: median(doors) },
  ]
}

/** Milliseconds until a process that is started now has started a run that waits for it. */
async function firstRun(address) {
  const startedAt = performance.now()
  const child = fork(FIRST_RUN, [JSON.stringify(address)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const ms = await new Promise((resolve, reject) => {
    child.once('message', () => resolve(performance.now() - startedAt))
    child.once('exit', (code) => reject(new Error(`a process that was to start one run ended with code ${code}`)))
  })
  await ended
  return ms
}
