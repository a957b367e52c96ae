/** What the parts of an app share: its settings, its store and its clock; each part decides for itself what it does with them. */
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
  /** What happened in this process since the app was made. */
  readonly counters: Counters
  /** Passed by every call that adds to a workspace. */
  readonly quotas: QuotaCheck
  /** Whether loops of this process fail on the store, though it may answer. */
  isStoreFailing(): boolean
  /** How many runs this process executes now, and how many at once at most, by queue; none while it does not work. */
  slots(): readonly SlotUsage[]
  /** Whether the app was started, and did not stop. */
  isRunning(): boolean
  /** Whether it was stopped, and not started since. */
  isStopped(): boolean
  /** Opened when first asked for; refused once the app was stopped. */
  store(): Promise<Store>
  newId(): string
  /** Calls back when the app stops, and waits for what that answers before the store is closed. */
  onStop(stopped: () => void | Promise<void>): () => void
}

const cores = new WeakMap<object, Core>()

/** Lets the rooms to the right, such as the server, reach what an app is made of. */
export function keepCore(app: object, core: Core): void {
  cores.set(app, core)
}

export function coreOf(app: object): Core {
  const core = cores.get(app)
  if (core) return core
  throw refused('this is not an app', 'pass what everytick() answered')
}

/** Anything with `query(text, values)`: the change is then part of the caller's own transaction. */
export interface InTransaction {
  readonly tx?: Executor
}

export function readTx({ tx }: InTransaction): Executor | undefined {
  if (tx === undefined || typeof tx?.query === 'function') return tx
  throw refused('tx has no function query(text, values)', 'pass the client that holds your transaction')
}

export const notRunning = (): EverytickError =>
  new EverytickError('NOT_STARTED', 'the app was stopped', { hint: 'call start() first' })
