/** The core benchmark: what both stores reach beside the machine's own limit; what each figure means stands with its measurement. */
import { readFileSync } from 'node:fs'
import { drainRows } from './drain.mjs'
import { growthRows } from './growth.mjs'
import { idleRows } from './idle.mjs'
import { CONCURRENCY } from './load.mjs'
import { steadyRows } from './steady.mjs'
import { verbRows } from './verbs.mjs'

/** Loaded when asked for, so that one can be measured without the other's driver. */
const STORES = {
  sqlite: async () => (await import('./sqlite-place.mjs')).sqlitePlaces(),
  postgres: async () => (await import('./postgres-place.mjs')).postgresPlaces(),
}

const FULL = {
  rounds: 3,
  bulk: 30_000,
  single: 400,
  schedules: 20_000,
  runs: 60_000,
  firesPerSecond: [100, 1000],
  warmMs: 3000,
  steadyMs: 20_000,
  afterMs: 1000,
  idleSchedules: [1000, 100_000],
  settleMs: 8000,
  idleMs: 15_000,
  fewSchedules: 1000,
  manySchedules: 1_000_000,
  passes: 60,
  schedulerMs: 10_000,
  fewFinished: 1000,
  manyFinished: 1_000_000,
  claims: 5,
}
const QUICK = {
  rounds: 1,
  bulk: 1000,
  single: 5,
  schedules: 1000,
  runs: 1000,
  firesPerSecond: [100],
  warmMs: 200,
  steadyMs: 1000,
  afterMs: 500,
  idleSchedules: [1000],
  settleMs: 200,
  idleMs: 300,
  fewSchedules: 1000,
  manySchedules: 2000,
  passes: 2,
  schedulerMs: 200,
  fewFinished: 1000,
  manyFinished: 2000,
  claims: 2,
}

const MEASURES = [verbRows, drainRows, steadyRows, idleRows, growthRows]

export async function run({ quick, note, store }) {
  const size = quick ? QUICK : FULL
  const rows = []
  const versions = { everytick: JSON.parse(readFileSync(new URL('../../package.json', import.meta.url))).version }
  const settings = { ...size, concurrency: CONCURRENCY }
  for (const kind of store === undefined ? Object.keys(STORES) : [store]) {
    const places = await STORES[kind]()
    versions[kind] = places.version
    settings[kind] = places.settings
    try {
      for (const measure of MEASURES) {
        for (const row of await measure(places, size, note)) rows.push(of(kind, row))
      }
    } finally {
      await places.close()
    }
  }
  return { rows, versions, settings }
}

/** Lines that continue the one before do not repeat the store. */
const of = (kind, { id, what, ...row }) => ({
  id: `${kind}-${id}`,
  what: `${(what.startsWith(' ') ? '' : kind).padEnd(10)}${what}`,
  ...row,
})
