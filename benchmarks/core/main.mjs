/** The core benchmark: what both stores reach beside the machine's own limit; what each figure means stands with its measurement. */
import { drainRows } from './drain.mjs'
import { footprintRows } from './footprint.mjs'
import { idleRows } from './idle.mjs'
import { plannerRows } from './planners.mjs'
import { steadyRows } from './steady.mjs'
import { measureStores } from './stores.mjs'
import { verbRows } from './verbs.mjs'

const FULL = {
  rounds: 3,
  bulk: 30_000,
  single: 400,
  schedules: 100_000,
  runs: 60_000,
  firesPerSecond: [1000],
  warmMs: 3000,
  steadyMs: 60_000,
  afterMs: 1000,
  idleSchedules: [1000],
  idleRounds: 1,
  settleMs: 15_000,
  idleMs: 30_000,
  starts: 5,
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
  idleRounds: 1,
  settleMs: 200,
  idleMs: 300,
  starts: 1,
}

const MEASURES = [verbRows, plannerRows, drainRows, steadyRows, idleRows, footprintRows]

export const run = ({ quick, note, store }) =>
  measureStores(MEASURES, { size: quick ? QUICK : FULL, quick, note, store })
