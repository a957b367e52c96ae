/** How long the runs of a worker that is killed wait until another process starts them again, with the product's own settings. */
import { setTimeout as delay } from 'node:timers/promises'
import { everytick } from 'everytick'
import { median } from '../harness.mjs'
import { counter } from './counter.mjs'
import { CONCURRENCY, holdJob } from './load.mjs'
import { startProcess } from './processes.mjs'

/** So that not every kill falls on the same moment between two renewals of a lease. */
const STEP_MS = 1700

export async function recoveryRows(places, size, note) {
  note(`kill -9 of a worker, ${size.rounds} times side by side`)
  // Nearly all of it is waiting for leases to end, in which none is in the way of another.
  const rounds = Array.from({ length: size.rounds }, (_, round) => oneRound(places, size, round))
  const ended = await Promise.allSettled(rounds)
  const failed = ended.find(({ status }) => status === 'rejected')
  if (failed !== undefined) throw failed.reason
  const seconds = ended.map(({ value }) => value)
  const what = 'runs of a killed worker start again'
  const spread = [Math.min(...seconds), Math.max(...seconds)]
  return [{ id: 'recovery', what, unit: 's', ours: median(seconds), spread, rounds: seconds }]
}

async function oneRound(places, size, round) {
  const place = await places.fresh()
  try {
    return (await recovered(place, size, round)) / 1000
  } finally {
    await place.drop()
  }
}

/** Milliseconds from the kill to the last new start. */
async function recovered(place, { heldByKilled, lease, beforeKillMs }, round) {
  const store = await place.open()
  const hold = holdJob({ held() {}, again() {} })
  const app = everytick({ store, jobs: [hold] })
  const [held, again] = [counter('held'), counter('started again')]
  let lastAt = 0
  const heard = {
    held: held.add,
    again(at) {
      lastAt = Math.max(lastAt, at)
      again.add(1)
    },
  }
  const options = { address: place.address, concurrency: CONCURRENCY, lease }
  const processes = []
  try {
    processes.push(await startProcess(options, heard))
    const [doomed] = processes
    const allHeld = held.reached(heldByKilled)
    await doomed.ask('start')
    await app.enqueueMany(
      hold,
      Array.from({ length: heldByKilled }, () => ({})),
    )
    await allHeld
    processes.push(await startProcess(options, heard))
    await processes[1].ask('start')
    await delay(beforeKillMs + round * STEP_MS)
    const allAgain = again.reached(heldByKilled)
    const killedAt = Date.now()
    await doomed.kill()
    await allAgain
    await processes[1].ask('stop')
    return lastAt - killedAt
  } finally {
    for (const process of processes) await process.end()
    await app.stop()
    await store.close()
  }
}
