/** The app for tests: the real engine on a store in memory, driven by a clock that moves only when the test says so. */
import { createEngine } from '../engine/engine.ts'
import type { Logger } from '../observe/logger.ts'
import { checkKeys, type Duration, type Instant, readDuration, readInstantOption, refused } from '../options.ts'
import type { RunState } from '../run/state.ts'
import { type RunView, runView } from '../scheduler/run-view.ts'
import type { EverytickOptions } from '../scheduler/settings.ts'
import { createApp, type Everytick } from '../scheduler.ts'
import type { Store } from '../store/contract/store.ts'
import { openSqlite } from '../store/sqlite/store.ts'
import { driver, WAIT_LIMIT_MS } from './driver.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { allRuns, nextInstant } from './look-ahead.ts'

export interface TestOptions extends Omit<EverytickOptions, 'store' | 'migrate'> {
  /** Where the clock stands at first. */
  readonly now: Instant
}

export interface TestRunFilter {
  /** The key of a schedule. */
  readonly schedule?: string
  readonly workspace?: string
  readonly job?: string
  readonly state?: RunState
}

export interface TestEverytick extends AsyncDisposable {
  readonly app: Everytick
  readonly store: Store
  readonly clock: FakeClock
  /** Moves the clock on, stopping at every instant at which something is due, until all that is due there is done. */
  advance(duration: Duration): Promise<void>
  /** The same, to an instant. */
  advanceTo(instant: Instant): Promise<void>
  /** Kills the engine as kill -9 would. It is down during the next advance, and starts again where that ends. */
  crash(): Promise<void>
  /** As they stood after the last advance, in the order in which they were due. */
  runs(filter?: TestRunFilter): RunView[]
}

/** Where a test takes place: a store and the clock that it shares with the app. */
export interface TestPlace {
  readonly store: Store
  readonly clock: FakeClock
  /** Takes the store's own clock along, where it has one. */
  readonly moved?: (at: number) => Promise<void>
  /** How long work may take, in real time, before it is taken to be waiting for the clock. */
  readonly waitLimitMs?: number
}

const KEYS = 'now jobs schedules queues name logger lease lookahead retention planner build removed quotas'.split(' ')
const FILTERS = ['schedule', 'workspace', 'job', 'state']
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

export async function createTestEverytick(options: TestOptions): Promise<TestEverytick> {
  checkKeys(options, KEYS, 'createTestEverytick()')
  const { now, ...rest } = options
  const clock = fakeClock(readInstantOption(now, 'now'))
  return startedIn({ store: await openSqlite({ path: ':memory:', clock }), clock }, rest)
}

/** The same in a place of the caller's own. */
export async function startedIn(
  { store, clock, moved = async () => {}, waitLimitMs = WAIT_LIMIT_MS }: TestPlace,
  options: Omit<TestOptions, 'now'>,
): Promise<TestEverytick> {
  const drive = driver({ clock, create: createEngine, waitLimitMs })
  const seams = {
    clock,
    timers: clock.timers,
    createEngine: drive.createEngine,
    onSignal: () => () => {},
    onUncaught: () => () => {},
  }
  const app = createApp({ logger: silent, ...options, store }, seams)
  let seen: RunView[] = []

  const moveTo = async (targetAt: number): Promise<void> => {
    if (targetAt < clock.now()) throw refused('time only moves on', 'advance to an instant after clock.now()')
    await drive.settle()
    for (let at = await next(targetAt); at !== null; at = await next(targetAt)) {
      await moveClock(at)
      await drive.settle()
    }
    await moveClock(targetAt)
    drive.revive()
    await drive.settle()
    seen = (await allRuns(store)).map(runView).sort(byDue)
  }
  const moveClock = async (at: number): Promise<void> => {
    await moved(at)
    clock.moveTo(at)
  }
  const next = async (untilAt: number): Promise<number | null> => {
    const at = drive.alive ? await nextInstant(store, clock) : null
    return at !== null && at <= untilAt ? at : null
  }

  const test: TestEverytick = {
    app,
    store,
    clock,
    advance: async (duration) => moveTo(clock.now() + readDuration(duration, 'duration')),
    advanceTo: async (instant) => moveTo(readInstantOption(instant, 'instant')),
    crash: async () => drive.crash(),
    runs(filter = {}) {
      checkKeys(filter, FILTERS, 'runs()')
      const { schedule, workspace, job, state } = filter
      return seen.filter(
        (run) =>
          (schedule === undefined || run.schedule?.key === schedule) &&
          (workspace === undefined || run.workspace === workspace) &&
          (job === undefined || run.job === job) &&
          (state === undefined || run.state === state),
      )
    },
    async [Symbol.asyncDispose]() {
      await app.stop()
      await store.close()
    },
  }
  try {
    await app.start()
  } catch (error) {
    await store.close()
    throw error
  }
  return test
}

const dueOf = (run: RunView): number => (run.scheduledAt ?? run.dueAt).getTime()

const byDue = (a: RunView, b: RunView): number =>
  dueOf(a) - dueOf(b) || a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1)
