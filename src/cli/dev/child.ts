/** The child process of `dev` that runs the user's code: loads it, serves the API, prints events, and exits on request or when its parent exits. Each reload starts a new one. */
import { coreOf } from '../../scheduler/core.ts'
import type { Everytick } from '../../scheduler.ts'
import { serve } from '../../server/listen.ts'
import { ownVersion, surroundings } from '../config.ts'
import { type LoadedConfig, loadConfig } from '../config-file.ts'
import { leave, openNow } from '../leave.ts'
import { forbidConfig } from '../no-config.ts'
import { printable, viewOf } from '../print.ts'
import { problemOf } from '../problem.ts'
import { screenText } from '../screen-text.ts'
import { stopApp } from '../stop-app.ts'
import { onUserFile } from '../user-module.ts'
import { type DevApp, openDevApp } from './dev-app.ts'
import { headText, reloadedText } from './head-text.ts'
import { ledgerText } from './ledger-text.ts'
import { liveLines } from './live-lines.ts'
import { type DevSetting, type FromChild, LONGEST_STOP_MS, type ToChild } from './messages.ts'
import { putAhead } from './moved-clock.ts'

type Ending = Omit<Extract<ToChild, { kind: 'stop' }>, 'kind'>

const DRAIN_MS = 10_000
/** For handles that user code left open before a reload. */
const LEAVE_MS = 500
const openAtStart = openNow()
const view = viewOf(surroundings())
const write = (text: string): void => void process.stdout.write(screenText(text))
const send = (message: FromChild): void => void (process.connected && process.send!(message))

/** Stops everything started so far. */
let end: (how: Ending) => Promise<void> = async () => {}
let isEnding = false
let setting: DevSetting | null = null
let loaded: LoadedConfig | null = null

function stop(how: Ending): void {
  if (isEnding) return
  isEnding = true
  // A database that does not respond must not keep this process, and the parent that waits for it, alive.
  setTimeout(() => process.exit(1), LONGEST_STOP_MS).unref()
  end(how)
    .catch((error: unknown) => {
      process.exitCode = 1
      send({ kind: 'failed', problem: problemOf(error) })
    })
    .then(() => {
      if (process.connected) process.disconnect()
      // Exit normally, so that SQLite can clean up its files; a warning on every reload would be noise.
      if (how.ledger) void leave(openAtStart)
      else setTimeout(() => process.exit(), LEAVE_MS).unref()
    })
}

function failed(error: unknown): void {
  send({ kind: 'failed', problem: problemOf(error) })
  stop({ ledger: false, moveMs: 0 })
}

async function load(given: DevSetting): Promise<void> {
  setting = given
  if (given.noConfig) forbidConfig()
  onUserFile((path) => send({ kind: 'file', path }))
  loaded = await loadConfig(given.config ?? undefined)
  send({ kind: 'willing' })
}

async function go(): Promise<void> {
  const { db, url, keys, first, targets } = setting!
  const made = await openDevApp(loaded!, { db, targets })
  const { app } = made
  const core = coreOf(app)
  end = async () => {
    await stopApp(app, DRAIN_MS)
    await made.close()
  }
  const synced = await app.sync()
  const head = {
    ...{ version: ownVersion(), file: loaded!.file, jobsFile: loaded!.jobsFile, url, keys, synced },
    ...{ store: made.store, isNew: made.isNew, openedMs: made.openedMs, aheadMs: made.aheadMs, demo: made.demo },
    ...{ jobs: core.settings.ownJobs.size - made.added, schedules: core.settings.schedules.length },
  }
  write(first ? headText(head, view) : reloadedText(head, view))
  const lines = liveLines(core, view, write)
  end = async (how) => {
    if (how.ledger) write(view.colours.dim('  stopping: no new runs, those in flight may finish\n'))
    const ledger = how.ledger ? await checkedLedger(app) : ''
    try {
      await stopApp(app, DRAIN_MS)
    } finally {
      await lines.stop()
      write(ledger)
      await made.close()
      moveClock(made, how.moveMs)
    }
  }
  // Start the server last: its background tasks check the planner, which should be running by then.
  await app.start()
  const { port } = await serve(app, { port: 0, access: 'open', publicMetrics: true })
  send({ kind: 'ready', port, movesClock: made.clockOf !== null })
  await ready(url)
}

/** A failed ledger check does not prevent the app from stopping. */
async function checkedLedger(app: Everytick): Promise<string> {
  try {
    return ledgerText(await app.audit(), view)
  } catch (error) {
    return `  ledger not checked: ${printable(problemOf(error).message)}\n`
  }
}

function moveClock({ clockOf, aheadMs }: DevApp, moveMs: number): void {
  if (clockOf !== null && moveMs > 0) putAhead(clockOf, aheadMs + moveMs)
}

/** Prints errors of the user's onReady; they do not stop the process. */
async function ready(url: string): Promise<void> {
  try {
    await loaded!.onReady?.({ url })
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    process.stderr.write(`  onReady failed: ${text.split('\n').map(printable).join('\n')}\n`)
  }
}

process.on('message', (message: ToChild) => {
  if (message.kind === 'load') load(message.setting).catch(failed)
  else if (message.kind === 'go') go().catch(failed)
  else stop(message)
})
// The terminal sends Ctrl-C to both processes; the parent handles it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => stop({ ledger: false, moveMs: 0 }))
process.on('disconnect', () => stop({ ledger: false, moveMs: 0 }))
