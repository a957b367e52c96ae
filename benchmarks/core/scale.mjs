/** The scale benchmark, part by part: many schedules due at once, many stored, many runs finished, and a process killed; what each figure means stands with its measurement. */

import { backlogRows, largeBacklogRows } from './backlog.mjs'
import { claimSnapshotRows } from './claim-snapshot.mjs'
import { createRows } from './create.mjs'
import { footprintRows } from './footprint.mjs'
import { historyRows } from './history-growth.mjs'
import { idleRows } from './idle.mjs'
import { planningRows } from './planning-growth.mjs'
import { planningSnapshotRows } from './planning-snapshot.mjs'
import { recoveryRows } from './recovery.mjs'
import { openStore } from './stores.mjs'

const FULL = {
  rounds: 3,
  backlogs: [1000, 10_000, 100_000],
  backlogRounds: [3, 3, 2],
  /** More than a planner looks ahead. */
  aheadMs: 11_000,
  /** So many due at once, among so many stored. */
  crowd: [10_000, 1_000_000],
  createMarks: [100_000, 1_000_000],
  idleSchedules: [1000, 100_000, 1_000_000],
  idleRounds: 2,
  settleMs: 15_000,
  idleMs: 20_000,
  storedSchedules: [1000, 10_000, 100_000, 1_000_000],
  passes: 40,
  finishedRuns: [10_000, 100_000, 1_000_000, 10_000_000],
  /** So many pass through the store by its verbs; the rest is copied into history. */
  churnedRuns: 1_000_000,
  plannedSchedules: 10_000,
  claimRounds: 8,
  /** In one turn: what a single one costs is too little to be read. */
  claims: 20,
  /** Stands for ten minutes of a held snapshot at some 200 runs a second. */
  heldRuns: 120_000,
  /** Longer than a worker goes without looking from the very beginning. */
  stretchMs: 5000,
  stretchRounds: 3,
  heldByKilled: 10,
  /** Undefined is the product's own. */
  lease: undefined,
  beforeKillMs: 6000,
  runs: 60_000,
  starts: 5,
}
const QUICK = {
  rounds: 1,
  backlogs: [100],
  backlogRounds: [1],
  aheadMs: 500,
  crowd: [100, 2000],
  createMarks: [1000, 2000],
  idleSchedules: [1000, 2000],
  idleRounds: 1,
  settleMs: 200,
  idleMs: 300,
  storedSchedules: [1000, 2000],
  passes: 2,
  finishedRuns: [2000, 4000],
  churnedRuns: 2000,
  plannedSchedules: 1000,
  claimRounds: 1,
  claims: 2,
  heldRuns: 1000,
  stretchMs: 100,
  stretchRounds: 1,
  heldByKilled: 2,
  lease: '1s',
  beforeKillMs: 500,
  runs: 1000,
  starts: 1,
}
/** There is no server that would leave something behind of every run that passed, and every copy is written by one core. */
const OTHERWISE = { sqlite: { backlogRounds: [2, 2, 1], churnedRuns: 200_000 } }

/** In the order in which they are measured: those that share what is stored stand together, the quietest first. */
const PARTS = {
  idle: idleRows,
  planning: planningRows,
  crowd: largeBacklogRows,
  backlog: backlogRows,
  create: createRows,
  history: historyRows,
  snapshot: async (...at) => [...(await claimSnapshotRows(...at)), ...(await planningSnapshotRows(...at))],
  recovery: recoveryRows,
  footprint: footprintRows,
}
export const parts = Object.keys(PARTS)

/**
 * Measures these parts on one store, and answers after each of them `{ name, rows, seconds, versions, settings }`. One that
 * fails has no rows and says why in `failed`; the others are measured all the same.
 */
export async function* measure({ quick, note, store, names = parts }) {
  const size = quick ? QUICK : { ...FULL, ...OTHERWISE[store] }
  const at = await openStore(store, { size, quick, note })
  const { versions, settings } = at
  try {
    for (const name of parts.filter((part) => names.includes(part))) {
      at.told(`part ${name}`)
      const startedAt = performance.now()
      const found = await at.measured(PARTS[name]).then(
        (rows) => ({ rows }),
        (error) => ({ rows: [], failed: String(error?.stack ?? error) }),
      )
      const seconds = (performance.now() - startedAt) / 1000
      at.told(
        found.failed === undefined
          ? `part ${name} took ${seconds.toFixed(1)} s`
          : `part ${name} FAILED: ${found.failed}`,
      )
      yield { name, ...found, seconds, versions, settings }
    }
  } finally {
    await at.close()
  }
}
