/** What the parts of an app share: settings, store, clock, events, counters. */
import type { SlotUsage } from '../engine/worker.ts'
import { EverytickError } from '../errors.ts'
import { refused } from '../options.ts'
import type { Executor } from '../store/contract/executor.ts'
import type { Store } from '../store/contract/store.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import type { Counters } from './counters.ts'
import type { EventHub } from './events.ts'
import type { QuotaCheck } from './quota-check.ts'
import type { Settings } from './settings.ts'

export interface Core {
  readonly settings: Settings
  readonly clock: Clock
  readonly timers: Timers
  readonly hub: EventHub
  /** Counts of this process since the app was created. */
  readonly counters: Counters
  /** Every call that adds to a workspace goes through it. */
  readonly quotas: QuotaCheck
  /** Whether loops of this process currently fail on the store; reads may still succeed. */
  isStoreFailing(): boolean
  /** The busy and total slots of this process, by queue; empty while no worker runs. */
  slots(): readonly SlotUsage[]
  /** Whether the app is started and not stopping. */
  isRunning(): boolean
  /** Whether the app was stopped and not started again. */
  isStopped(): boolean
  /** Opens the store on first use; rejects after the app was stopped. */
  store(): Promise<Store>
  newId(): string
  /** Registers a callback for stopping; the app awaits it before it closes the store. Returns an unsubscribe function. */
  onStop(stopped: () => void | Promise<void>): () => void
}

const cores = new WeakMap<object, Core>()

/** Lets other modules, such as the server, reach the core of an app. */
export function keepCore(app: object, core: Core): void {
  cores.set(app, core)
}

export function coreOf(app: object): Core {
  const core = cores.get(app)
  if (core) return core
  throw refused('this is not an Everytick app', 'pass the object that everytick() returned')
}

/** An object with `query(text, values)`, such as a pg client: the change becomes part of the caller's transaction. */
export interface InTransaction {
  readonly tx?: Executor
}

export function readTx({ tx }: InTransaction): Executor | undefined {
  if (tx === undefined || typeof tx?.query === 'function') return tx
  throw refused('tx has no function query(text, values)', 'pass the database client that runs your transaction')
}

export const notRunning = (): EverytickError =>
  new EverytickError('NOT_STARTED', 'the app was stopped', { hint: 'call start() first' })
