/** The scale benchmark: many schedules due at once, many stored, many runs finished, and a process killed; what each figure means stands with its measurement. */
import { claimRows } from './claim-growth.mjs'
import { createRows } from './create.mjs'
import { herdRows } from './herd.mjs'
import { idleRows } from './idle.mjs'
import { planningRows } from './planning-growth.mjs'
import { recoveryRows } from './recovery.mjs'
import { measureStores } from './stores.mjs'

const FULL = {
  rounds: 3,
  herds: [1000, 10_000, 100_000],
  aheadMs: 12_000,
  createMarks: [100_000, 1_000_000],
  idleSchedules: [1000, 100_000, 1_000_000],
  settleMs: 8000,
  idleMs: 30_000,
  storedSchedules: [1000, 10_000, 100_000, 1_000_000],
  passes: 60,
  schedulerMs: 10_000,
  finishedRuns: [10_000, 100_000, 1_000_000, 10_000_000],
  /** So many pass through the store by its verbs; the rest is copied into history. */
  churnedRuns: 1_000_000,
  claimRounds: 8,
  /** In one turn: what a single one costs is too little to be read. */
  claims: 20,
  /** Stands for ten minutes of a held snapshot at some 300 runs a second. */
  heldRuns: 200_000,
  heldByKilled: 10,
  /** Undefined is the product's own. */
  lease: undefined,
  beforeKillMs: 6000,
}
const QUICK = {
  rounds: 1,
  herds: [100],
  aheadMs: 500,
  createMarks: [1000, 2000],
  idleSchedules: [1000, 2000],
  settleMs: 200,
  idleMs: 300,
  storedSchedules: [1000, 2000],
  passes: 2,
  schedulerMs: 200,
  finishedRuns: [1000, 2000],
  churnedRuns: 1000,
  claimRounds: 1,
  claims: 2,
  heldRuns: 1000,
  heldByKilled: 2,
  lease: '1s',
  beforeKillMs: 500,
}

const MEASURES = [herdRows, createRows, idleRows, planningRows, claimRows, recoveryRows]

export const run = ({ quick, note, store }) => measureStores(MEASURES, { size: quick ? QUICK : FULL, note, store })
