/** What is done to a pair in each situation, from outside and in order; what must be seen meanwhile stands in `table.mjs`. */
import { rmSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const SECOND = 1000
/** Time in which both run undisturbed before anything happens: several looks of the alerter and of the planner. */
const SETTLED_MS = 20 * SECOND
/** For alerts that must open by themselves: the time of their rule, two looks, and a loaded machine. */
const OPENS_WITHIN_MS = 180 * SECOND
const RESOLVES_WITHIN_MS = 150 * SECOND
/** Without any alert to wait for: three looks. */
const QUIET_MS = 50 * SECOND

const isOver = ({ state }) => state === 'resolved'

/** Waits for the alerts that must open, looks, undoes, and waits until all but those that stay are resolved. */
async function through(pair, row, { begin, undo, waitFor = row.opens }) {
  const { stays, lastsMs = 0, settledMs = SETTLED_MS, quietMs = QUIET_MS } = row
  await pause(settledMs)
  await begin()
  pair.enter('during')
  const began = Date.now()
  if (waitFor.length > 0)
    await pair.untilAlerts(
      (found) => waitFor.every(({ kind }) => found.some((alert) => alert.kind === kind)),
      OPENS_WITHIN_MS,
    )
  await pause(Math.max(0, lastsMs - (Date.now() - began)))
  await Promise.all([pair.diagnose(), pair.untilScraped()])
  await undo()
  pair.enter('after')
  await pause(quietMs)
  await pair.untilAlerts(
    (found) => found.every((alert) => isOver(alert) || stays.includes(alert.kind)),
    RESOLVES_WITHIN_MS,
  )
  await Promise.all([pair.diagnose(), pair.untilScraped()])
}

const nothing = async () => {}

export const ACTS = {
  async 'all well'(pair, row) {
    await through(pair, row, { begin: nothing, undo: nothing })
  },

  async 'worker killed'(pair, row) {
    await through(pair, row, { begin: () => pair.worker.end('SIGKILL'), undo: () => pair.worker.start() })
  },

  async 'worker frozen'(pair, row) {
    const freeze = async () => {
      pair.worker.signal('SIGSTOP')
      // Stopped within a write to a SQLite file it would hold the lock, which is the situation "database away".
      while (!(await pair.database.isFree())) {
        pair.worker.signal('SIGCONT')
        await pause(100)
        pair.worker.signal('SIGSTOP')
      }
    }
    await through(pair, row, { begin: freeze, undo: async () => pair.worker.signal('SIGCONT') })
  },

  async 'planner killed'(pair, row) {
    const begin = () => pair.serve.end('SIGKILL')
    await through(pair, row, { waitFor: [], begin, undo: () => pair.serve.start() })
  },

  async 'database away'(pair, row) {
    const { takeAway, giveBack } = pair.database
    await through(pair, row, { waitFor: [], begin: takeAway, undo: giveBack })
  },

  async 'disk full'(pair, row) {
    const { fill, free } = pair.database
    await through(pair, row, { waitFor: [], begin: fill, undo: free })
  },

  async 'hung handler'(pair, row) {
    const hang = pair.project.file('hang')
    const begin = async () => writeFileSync(hang, '')
    await through(pair, row, { begin, undo: async () => rmSync(hang) })
  },

  async 'nightly fails once'(pair, row) {
    const fail = pair.project.file('fail')
    const undo = async () => {
      rmSync(fail)
      await pair.run('trigger', 'nightly')
    }
    await through(pair, row, { begin: nothing, undo })
  },

  async 'restart after three minutes'(pair, row) {
    const begin = () => pair.stop()
    const undo = async () => {
      await pair.serve.start()
      await pair.worker.start()
    }
    await through(pair, row, { waitFor: [], begin, undo })
  },

  async 'queue paused'(pair, row) {
    const begin = () => pair.run('queues', 'pause', 'mail', '--reason', 'vendor outage')
    const undo = () => pair.run('queues', 'resume', 'mail')
    await through(pair, row, { begin, undo })
  },
}
