/** Defines the metrics of this process. Rules sum them over processes, except for process state. `fleet-figures.ts` defines the fleet metrics. */
import type { Registry } from 'prom-client'
import type { ClassCounts } from '../../observe/class-counts.ts'
import type { Core } from '../../scheduler/core.ts'
import { BOUNDS, type Counters, type JobCounts } from '../../scheduler/counters.ts'
import { capped } from '../../scheduler/per-name.ts'
import { ownVersion } from '../version.ts'
import { createEventLoopDelay, type EventLoopDelay } from './event-loop.ts'
import { type Figure, registerFigure, type Sample } from './figure.ts'
import { registerHistogram } from './histograms.ts'
import type { StorePoll } from './store-poll.ts'

const OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const

const COUNTERS: readonly Figure<Counters>[] = [
  {
    name: 'everytick_fires_total',
    help: 'Occurrences of schedules that this process turned into runs.',
    kind: 'counter',
    read: ({ fires }) => fires,
  },
  {
    name: 'everytick_missed_total',
    help: 'Occurrences that this process recorded as missed.',
    kind: 'counter',
    read: ({ missed }) => missed,
  },
  {
    name: 'everytick_leases_renewed_total',
    help: 'Leases of runs that this process renewed.',
    kind: 'counter',
    read: ({ leasesRenewed }) => leasesRenewed,
  },
  {
    name: 'everytick_leases_lost_total',
    help: 'Leases that this process lost while their runs were still executing.',
    kind: 'counter',
    read: ({ leasesLost }) => leasesLost,
  },
  {
    name: 'everytick_attempts_total',
    help: 'Attempts that this process started, by job.',
    kind: 'counter',
    labels: ['job'],
    read: ({ jobs }) => [...jobs.entries()].map(([job, { attempts }]): Sample => [{ job }, attempts]),
  },
  {
    name: 'everytick_runs_total',
    help: 'Runs that this process ended, by job and outcome.',
    kind: 'counter',
    labels: ['job', 'outcome'],
    read: ({ jobs }) =>
      [...jobs.entries()].flatMap(([job, each]) =>
        OUTCOMES.map((outcome): Sample => [{ job, outcome }, each[outcome]]),
      ),
  },
  {
    name: 'everytick_engine_errors_total',
    help: 'Internal loop passes of this process that failed and are retried, by loop.',
    kind: 'counter',
    labels: ['where'],
    read: ({ errors }) => [...errors.entries()].map(([where, { count }]): Sample => [{ where }, count]),
  },
  {
    name: 'everytick_quota_refusals_total',
    help: 'Calls that a quota of a workspace refused in this process, by quota.',
    kind: 'counter',
    labels: ['quota'],
    read: ({ refusals }) => [...refusals.entries()].map(([quota, { count }]): Sample => [{ quota }, count]),
  },
]

const UP: Figure<boolean> = {
  name: 'everytick_store_up',
  help: '1 if the database responds to this process and accepts its writes, otherwise 0.',
  kind: 'gauge',
  read: (isUp) => (isUp ? 1 : 0),
}

const STATE: readonly Figure<StorePoll>[] = [
  {
    name: 'everytick_clock_skew_seconds',
    help: 'Clock of this machine minus clock of the database.',
    kind: 'gauge',
    read: ({ skewMs }) => (skewMs === null ? null : skewMs / 1000),
  },
  {
    name: 'everytick_pool_connections',
    help: 'Database connections of this process, by state: used or idle; waiting counts callers without a connection.',
    kind: 'gauge',
    labels: ['state'],
    read({ pool }) {
      if (!pool) return []
      const states = { used: pool.used, idle: pool.size - pool.used, waiting: pool.waiting }
      return Object.entries(states).map(([state, value]): Sample => [{ state }, value])
    },
  },
]

type Slots = ReturnType<Core['slots']>

const bySlots = (slots: Slots, of: (slot: Slots[number]) => number): Sample[] =>
  capped(
    slots.map((slot) => [slot.queue, of(slot)]),
    (a, b) => a + b,
  ).map(([queue, value]) => [{ queue }, value])

const SLOTS: readonly Figure<Slots>[] = [
  {
    name: 'everytick_slots',
    help: 'Maximum number of runs that this process executes at once, by queue.',
    kind: 'gauge',
    labels: ['queue'],
    read: (slots) => bySlots(slots, ({ concurrency }) => concurrency),
  },
  {
    name: 'everytick_slots_busy',
    help: 'Runs that this process executes now, by queue.',
    kind: 'gauge',
    labels: ['queue'],
    read: (slots) => bySlots(slots, ({ busy }) => busy),
  },
]

const BUILD: Figure<null> = {
  name: 'everytick_build_info',
  help: 'Always 1; the labels carry the versions of Everytick and Node.',
  kind: 'gauge',
  labels: ['version', 'node'],
  read: () => [[{ version: ownVersion(), node: process.version }, 1]],
}

const LOOP: Figure<EventLoopDelay> = {
  name: 'everytick_event_loop_delay_seconds',
  help: 'Longest delay of the event loop of this process within the last half minute or more.',
  kind: 'gauge',
  read: (delay) => delay.longestSeconds(),
}

export function registerCounters(registry: Registry, counters: Counters): void {
  for (const figure of COUNTERS) registerFigure(registry, figure, () => counters)
  const byJob = (of: 'duration' | 'timeoutRatio') => () =>
    [...counters.jobs.entries()].map(([job, each]): [{ job: string }, JobCounts[typeof of]] => [{ job }, each[of]])
  registerHistogram(registry, {
    name: 'everytick_lateness_seconds',
    help: 'Time between due and start of the attempts that this process started, by queue.',
    bounds: BOUNDS.lateness,
    read: () =>
      [...counters.queues.entries()].map(([queue, counts]): [{ queue: string }, ClassCounts] => [{ queue }, counts]),
  })
  registerHistogram(registry, {
    name: 'everytick_duration_seconds',
    help: 'Duration of attempts in this process, by job.',
    bounds: BOUNDS.duration,
    read: byJob('duration'),
  })
  registerHistogram(registry, {
    name: 'everytick_duration_timeout_ratio',
    help: 'Share of its timeout that each attempt used, by job; only attempts with a timeout.',
    bounds: BOUNDS.timeoutRatio,
    read: byJob('timeoutRatio'),
  })
  registerHistogram(registry, {
    name: 'everytick_planner_pass_seconds',
    help: 'Duration of planner passes while this process was the planner.',
    bounds: BOUNDS.plannerPass,
    read: () => [[{}, counters.plannerPass]],
  })
}

export function registerProcess(
  registry: Registry,
  core: Pick<Core, 'counters' | 'slots' | 'clock' | 'isStoreFailing'>,
  poll: () => Promise<StorePoll>,
): void {
  registerCounters(registry, core.counters)
  registerFigure(registry, UP, async () => (await poll()).up && !core.isStoreFailing())
  for (const figure of STATE) registerFigure(registry, figure, poll)
  for (const figure of SLOTS) registerFigure(registry, figure, () => core.slots())
  const delay = createEventLoopDelay(core.clock)
  registerFigure(registry, LOOP, () => delay)
  registerFigure(registry, BUILD, () => null)
}
