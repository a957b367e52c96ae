/** `everytick bench`: a short measurement of this machine and its database through the public API; `benchmarks/` holds the benchmarks with targets. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob } from '../../job.ts'
import { coreOf } from '../../scheduler/core.ts'
import { type Everytick, everytick } from '../../scheduler.ts'
import { systemClock } from '../../time/clock.ts'
import { systemTimers } from '../../time/timers.ts'
import { answer, type JsonOption, readCount } from '../answer.ts'
import type { Io } from '../io.ts'
import { printable, rowsText, type View } from '../print.ts'
import { UsageError } from '../usage-error.ts'

export interface BenchOptions extends JsonOption {
  readonly db?: string
  readonly runs: string
  readonly dryRun?: boolean
}

export interface Measured {
  readonly store: string
  readonly runs: number
  readonly enqueuedPerSecond: number
  readonly drainedPerSecond: number
  /** From enqueueing a run to the start of its handler, one run after another. */
  readonly pickUpMs: { readonly p50: number; readonly p95: number; readonly max: number }
}

const NAME = 'everytick-bench'
const SINGLES = 100
const BATCH = 500
const SLOTS = 20
const WAIT_LIMIT_MS = 120_000

export async function bench(options: BenchOptions, io: Io): Promise<void> {
  const runs = readCount(options.runs, '--runs', [10, 100_000])
  const words = `${runs + SINGLES} finished runs of the job ${NAME}, which retention removes in time`
  if (options.dryRun) {
    const where = options.db === undefined ? 'a temporary SQLite file' : 'the database'
    return answer(
      { dryRun: true, runs: runs + SINGLES, job: NAME },
      { ...options, io },
      () => `would write to ${where}: ${words}\n`,
    )
  }
  // Only a database from --db: a measurement must not write to the one in DATABASE_URL.
  const folder = options.db === undefined ? mkdtempSync(join(tmpdir(), 'everytick-bench-')) : null
  try {
    const db = options.db ?? `sqlite:${join(folder!, 'bench.db')}`
    if (options.db !== undefined) io.note(`  writing to the database: ${words}\n`)
    await answer(await measured({ db, migrate: folder !== null }, runs), { ...options, io }, measuredText)
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
}

async function measured({ db, migrate }: { db: string; migrate: boolean }, runs: number): Promise<Measured> {
  let begun = (_id: string): void => {}
  const job = defineJob({ name: NAME, queue: NAME, retry: { attempts: 1 }, run: ({ run }) => begun(run.id) })
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const app = everytick({ store: db, migrate, jobs: [job], queues: { [NAME]: SLOTS }, logger: quiet, name: 'bench' })
  try {
    const { name: store } = await coreOf(app).store()
    const since = systemClock.elapsed
    const enqueueing = since()
    const open = new Set<string>()
    for (let made = 0; made < runs; made += BATCH) {
      const items = Array.from({ length: Math.min(BATCH, runs - made) }, () => ({ workspace: NAME }))
      for (const { id } of await app.enqueueMany(job, items)) open.add(id)
    }
    const enqueueMs = since() - enqueueing
    const drained = emptied(app, open)
    const draining = since()
    // Worker only: a planner without schedules in code would treat the schedules in the database as removed.
    await app.start({ role: 'worker' })
    await drained
    const drainMs = since() - draining
    const pickUps: number[] = []
    for (let i = 0; i < SINGLES; i++) {
      const start = since()
      const { promise, resolve } = waiting()
      begun = () => resolve(since() - start)
      await app.enqueue(job, { workspace: NAME })
      pickUps.push(await promise)
    }
    const sorted = pickUps.toSorted((a, b) => a - b)
    const share = (part: number): number => Math.round(sorted[Math.ceil(part * sorted.length) - 1]! * 10) / 10
    return {
      ...{ store, runs, enqueuedPerSecond: perSecond(runs, enqueueMs), drainedPerSecond: perSecond(runs, drainMs) },
      pickUpMs: { p50: share(0.5), p95: share(0.95), max: share(1) },
    }
  } finally {
    await app.stop()
  }
}

const perSecond = (count: number, ms: number): number => Math.round((count * 1000) / Math.max(ms, 1))

function waiting(): { readonly promise: Promise<number>; readonly resolve: (ms: number) => void } {
  let resolve: (ms: number) => void = () => {}
  const promise = new Promise<number>((done, fail) => {
    const giveUp = systemTimers.set(WAIT_LIMIT_MS, () => fail(tooSlow()))
    resolve = (ms) => {
      giveUp()
      done(ms)
    }
  })
  return { promise, resolve: (ms) => resolve(ms) }
}

const tooSlow = (): UsageError =>
  new UsageError(`the measurement did not finish within ${WAIT_LIMIT_MS / 1000} seconds`, { code: 'TOO_SLOW' })

/** Waits until these runs have ended; ignores runs that an interrupted measurement left in the queue. */
function emptied(app: Everytick, open: Set<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = systemTimers.set(WAIT_LIMIT_MS, () => reject(tooSlow()))
    const forget = app.on('run.succeeded', ({ run }) => {
      open.delete(run.id)
      if (open.size > 0) return
      giveUp()
      forget()
      resolve()
    })
  })
}

export function measuredText(
  { store, runs, enqueuedPerSecond, drainedPerSecond, pickUpMs }: Measured,
  view: View,
): string {
  const rows = [
    ['enqueue', `${enqueuedPerSecond}/s`, `${runs} runs in batches of ${BATCH}`],
    ['drain', `${drainedPerSecond}/s`, `one process with ${SLOTS} slots, handlers that do nothing`],
    ['pick-up p50', `${pickUpMs.p50} ms`, 'from enqueueing a run to the start of its handler'],
    ['pick-up p95', `${pickUpMs.p95} ms`, `${SINGLES} runs, one after another`],
    ['pick-up max', `${pickUpMs.max} ms`, ''],
  ]
  const head = view.terminal ? `  ${view.colours.bold(printable(store))}\n` : ''
  return `${head}${rowsText(['WHAT', 'MEASURED', 'HOW'], rows, view)}`
}
