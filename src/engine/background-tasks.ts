/** The background tasks that one process at a time does for all, each under its own lease and in its own file. */
import { type Backfiller, createBackfiller } from './backfiller.ts'
import type { Endings } from './endings.ts'
import type { EngineOptions } from './engine-options.ts'
import { createJanitor } from './janitor.ts'
import { everybodyLeads, type Leadership, leadership } from './leadership.ts'
import { createPlanner, type Planner, type PlannerLeadership } from './planner.ts'
import { plannerShards } from './planner-shards.ts'
import { POLL_MS, type PollMs } from './poll.ts'
import { createReaper } from './reaper.ts'

/** Shorter than the lookahead, so that the next planner takes over before anything is late. */
const PLANNER_LEASE_MS = 4000
/** As often as its lease is renewed anyway: what is planned a second later is still planned long before it is due. */
const PLANNER_POLL_MS = 2000
const TASK_LEASE_MS = 5000
const JANITOR_LEASE_MS = 120_000

export interface BackgroundTasks {
  readonly planner: Planner
  readonly reaper: { pass(): Promise<number> }
  readonly janitor: { pass(): Promise<number> }
  readonly backfiller: Backfiller
  /** Releases every lease, so that other processes need not wait for it to expire. */
  release(): Promise<unknown>
}

export interface BackgroundTaskOptions extends EngineOptions {
  readonly random: () => number
  readonly pollMs: PollMs
  readonly onEnd: Endings
  readonly onBackfillStep: () => void
}

export function createBackgroundTasks(options: BackgroundTaskOptions): BackgroundTasks {
  const { store, clock, workerId, lookaheadMs, retention, random, pollMs, onEvent, onEnd } = options
  const lead = (name: string, leaseMs: number): Leadership =>
    leadership({ locks: store.locks, clock, name, holder: workerId, leaseMs })
  const planning = (): PlannerLeadership => {
    if (options.planner === 'all') return everybodyLeads
    // Where one writer has to wait for the other, a second planner is no gain.
    const isSharded = options.planner === 'sharded' && store.planning.recordsAtOnce > 1
    if (!isSharded) return lead('planner', PLANNER_LEASE_MS)
    return plannerShards({ locks: store.locks, clock, holder: workerId, leaseMs: PLANNER_LEASE_MS })
  }
  const leaders = {
    planner: planning(),
    reaper: lead('reaper', TASK_LEASE_MS),
    janitor: lead('janitor', JANITOR_LEASE_MS),
    backfills: lead('backfills', TASK_LEASE_MS),
  }
  const { planning: schedules, failovers } = store
  const planner = createPlanner({ planning: schedules, failovers, leadership: leaders.planner, lookaheadMs, onEvent })
  /** Emits what changed in a pass about who does the task. */
  const observed = (task: keyof typeof leaders, pass: () => Promise<number>): (() => Promise<number>) => {
    let led = false
    return async () => {
      try {
        return await pass()
      } finally {
        const { leading: leads } = leaders[task]
        if (leads !== led) onEvent({ kind: 'leadership.changed', task, leads })
        led = leads
      }
    }
  }
  const reaper = createReaper({ claims: store.claims, leadership: leaders.reaper, workerId, random, onEnd, onEvent })
  const janitor = createJanitor({ store, leadership: leaders.janitor, retention, onEvent })
  const backfiller = createBackfiller({ store, leadership: leaders.backfills, pollMs, onStep: options.onBackfillStep })
  return {
    planner: {
      pass: observed('planner', async () => {
        const beganAt = clock.elapsed()
        const delayMs = await planner.pass()
        if (leaders.planner.leading) onEvent({ kind: 'planner.passed', durationMs: clock.elapsed() - beganAt })
        // A standby process, and one without hints about new schedules, keeps the given interval.
        const patient = delayMs >= POLL_MS && leaders.planner.leading && pollMs() > POLL_MS
        return patient ? Math.max(delayMs, Math.min(PLANNER_POLL_MS, lookaheadMs / 4)) : delayMs
      }),
    },
    reaper: { pass: observed('reaper', reaper.pass) },
    janitor: { pass: observed('janitor', janitor.pass) },
    backfiller: { pass: observed('backfills', backfiller.pass) },
    release: () => Promise.allSettled(Object.values(leaders).map((leader) => leader.release())),
  }
}
