/** The options of an engine: store, roles, queues, leases; `scheduler/settings.ts` reads them from users. */
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Tracer } from '../observe/tracer.ts'
import type { Store } from '../store/contract/store.ts'
import type { Retention } from '../store/contract/upkeep.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import type { EngineJob } from './attempt.ts'
import type { QueueOptions } from './worker.ts'

export type Role = 'scheduler' | 'worker'

export interface EngineOptions {
  readonly store: Store
  readonly clock: Clock
  readonly jobs: ReadonlyMap<string, EngineJob>
  readonly queues: Readonly<Record<string, QueueOptions>>
  readonly roles: readonly Role[]
  readonly workerId: string
  readonly host: { readonly name: string; readonly pid: number }
  readonly leaseMs: number
  readonly lookaheadMs: number
  /** Whether one process plans while the others stand by, which is so when absent, each plans its share, or each plans everything. */
  readonly planner?: 'leader' | 'sharded' | 'all'
  readonly retention: Retention
  readonly onEvent: (fact: EngineEvent) => void
  /** Traces every attempt; absent without tracing. */
  readonly tracer?: Tracer | undefined
  readonly random?: () => number
  readonly timers?: Timers
}
