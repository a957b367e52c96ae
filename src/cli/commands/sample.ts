/** `everytick sample`: the scheduler itself on SQLite with a few schedules, a line per run; kill it and start it again to see the ledger hold. */
import { mkdirSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { createEngine } from '../../engine/engine.ts'
import { EverytickError, shown } from '../../errors.ts'
import { defineJob } from '../../job.ts'
import { tzdataVersion } from '../../schedule/time-zone.ts'
import { schedule } from '../../schedule-definition.ts'
import { createApp, type Everytick } from '../../scheduler.ts'
import type { Store } from '../../store/contract/store.ts'
import { openSqlite } from '../../store/sqlite/store.ts'
import { systemClock } from '../../time/clock.ts'
import { systemTimers } from '../../time/timers.ts'
import { ownVersion } from '../config.ts'
import { type Ledger, ledgerOf } from '../ledger.ts'
import { printable, type View } from '../print.ts'

export interface SampleOptions {
  readonly db: string
  /** Ends by itself after so many seconds. */
  readonly seconds?: string
}

const heartbeat = defineJob({ name: 'heartbeat', run: () => {} })
const report = defineJob({
  name: 'report',
  async run(ctx) {
    for (const step of [0.25, 0.5, 0.75]) {
      ctx.progress(step, 'rendering')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return { pages: 3 }
  },
})
const flaky = defineJob({
  name: 'flaky',
  retry: { attempts: 3, backoff: 'fixed', base: '500ms', max: '500ms' },
  run(ctx) {
    if (ctx.run.attempt === 1) throw new Error('the first attempt always fails here')
  },
})

const jobs = [heartbeat, report, flaky]
const schedules = [
  schedule({ key: 'heartbeat', every: '1s', job: heartbeat, catchUp: 'all' }),
  schedule({ key: 'report', cron: '*/5 * * * * *', timezone: 'Europe/Berlin', job: report }),
  schedule({ key: 'flaky', every: '10s', job: flaky }),
]

export async function sample(options: SampleOptions, view: View, write: (text: string) => void): Promise<void> {
  const seconds = options.seconds === undefined ? undefined : Number(options.seconds)
  if (seconds !== undefined && !(seconds > 0)) {
    throw new EverytickError('OPTION_INVALID', `--seconds takes a positive number, not ${shown(options.seconds)}`)
  }
  mkdirSync(dirname(options.db), { recursive: true })
  const store = await openSqlite({ path: options.db })
  const seams = { clock: systemClock, timers: systemTimers, createEngine, onSignal: () => () => {} }
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const app = createApp({ store, jobs, schedules, logger: quiet }, seams)
  const say = printer(view, write)
  const { bold, dim } = view.colours
  write(
    `${bold(`everytick ${ownVersion()}`)}  SQLite ${printable(relative('.', options.db) || options.db)}, time-zone data ${tzdataVersion()}\n`,
  )
  for (const each of schedules) write(`  ${each.key.padEnd(10)}${dim(describe(each.key))}\n`)
  await showLedger(store, view, write)
  write(`${dim('  Ctrl-C stops. Kill it and start it again: no occurrence is lost or doubled.')}\n`)
  say(app)
  await app.start()
  await asked(seconds)
  write(`${dim('  stopping: no new runs, those under way may finish')}\n`)
  await app.stop({ drain: '10s' })
  await showLedger(store, view, write)
  await store.close()
}

const describe = (key: string): string =>
  ({
    heartbeat: 'every second; what was missed while away is caught up',
    report: 'every 5 seconds in Berlin, with progress',
    flaky: 'every 10 seconds; fails once, then succeeds',
  })[key]!

/** npm passes a Ctrl-C on to a program that the terminal has already told, so that one key press arrives twice. */
const ONE_PRESS_MS = 1000

/** Resolves on the first Ctrl-C or SIGTERM, or when the time is over; another press after that ends the process at once. */
function asked(seconds: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | null = null
    const onSignal = (): void => {
      firstAt ??= systemClock.elapsed()
      if (systemClock.elapsed() - firstAt > ONE_PRESS_MS) process.exit(130)
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
    if (seconds !== undefined) systemTimers.set(seconds * 1000, resolve)
  })
}

function printer(view: View, write: (text: string) => void): (app: Everytick) => void {
  const { green, red, yellow, dim } = view.colours
  const time = (at: Date): string => at.toISOString().slice(11, 23)
  return (app) => {
    app.on('run.started', ({ run, at }) => {
      const late = `${at.getTime() - run.dueAt.getTime()} ms late`
      const caught = run.trigger === 'catch_up' ? yellow(' caught up') : ''
      write(
        `${dim(time(at))} ▶ ${run.job.padEnd(10)} slot ${time(run.scheduledAt!)}  #${run.attempt}  ${late}${caught}\n`,
      )
    })
    app.on('run.succeeded', ({ run, durationMs }) => {
      if (durationMs >= 10)
        write(
          `${' '.repeat(12)} ${green('✓')} ${run.job.padEnd(10)} slot ${time(run.scheduledAt!)}  took ${Math.round(durationMs)} ms\n`,
        )
    })
    app.on('run.retry', ({ run, delayMs, error }) =>
      write(
        `${' '.repeat(12)} ${yellow('↻')} ${run.job.padEnd(10)} again in ${delayMs} ms: ${printable(error?.message ?? 'released')}\n`,
      ),
    )
    app.on('run.failed', ({ run, error }) =>
      write(`${' '.repeat(12)} ${red('✗')} ${run.job.padEnd(10)} ${printable(error.message)}\n`),
    )
    app.on('error', ({ where, error }) => write(`${red('  trouble')} in ${where}: ${printable(String(error))}\n`))
  }
}

async function showLedger(store: Store, view: View, write: (text: string) => void): Promise<void> {
  const ledgers: Ledger[] = []
  for (const { key } of schedules) {
    const stored = await store.schedules.get('default', key)
    const ledger = stored && (await ledgerOf(store, stored))
    if (ledger) ledgers.push(ledger)
  }
  const { green, red } = view.colours
  if (ledgers.length === 0) write('  ledger    empty: this is the first start\n')
  for (const { key, slots, runs, nonRuns, unexplained, lost, doubled } of ledgers) {
    const word = unexplained + lost + doubled === 0 ? green('✓') : red('✗')
    write(
      `  ledger  ${word} ${key.padEnd(10)} ${slots} occurrences = ${runs} runs + ${nonRuns} on record as skipped or missed; ${unexplained} unexplained, ${lost} lost, ${doubled} doubled\n`,
    )
  }
}
