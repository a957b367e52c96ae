/** Which figures of this process are shown, under which names; they are added up over processes, except for those of its own state. What holds for the whole fleet is `fleet-figures.ts`. */
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
    help: 'Leases that this process lost while the work still ran.',
    kind: 'counter',
    read: ({ leasesLost }) => leasesLost,
  },
  {
    name: 'everytick_attempts_total',
    help: 'Attempts that this process began, by job.',
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
    help: 'Passes of this process that failed and were tried again, by what failed.',
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
  help: 'Whether the store answered this process and takes its writes: 1, or 0 when not.',
  kind: 'gauge',
  read: (isUp) => (isUp ? 1 : 0),
}

const STATE: readonly Figure<StorePoll>[] = [
  {
    name: 'everytick_clock_skew_seconds',
    help: 'How far the clock of this machine is ahead of the clock of the database.',
    kind: 'gauge',
    read: ({ skewMs }) => (skewMs === null ? null : skewMs / 1000),
  },
  {
    name: 'everytick_pool_connections',
    help: 'Connections of this process to its database, by state: used and idle; waiting are callers without one.',
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
    help: 'Runs that this process executes at once at most, by queue.',
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
  help: 'Always 1; the labels say which version of Everytick runs on which version of Node.',
  kind: 'gauge',
  labels: ['version', 'node'],
  read: () => [[{ version: ownVersion(), node: process.version }, 1]],
}

const LOOP: Figure<EventLoopDelay> = {
  name: 'everytick_event_loop_delay_seconds',
  help: 'For how long the event loop of this process was held up at most, within the last half minute or more.',
  kind: 'gauge',
  read: (delay) => delay.longestSeconds(),
}

export function registerCounters(registry: Registry, counters: Counters): void {
  for (const figure of COUNTERS) registerFigure(registry, figure, () => counters)
  const byJob = (of: 'duration' | 'timeoutRatio') => () =>
    [...counters.jobs.entries()].map(([job, each]): [{ job: string }, JobCounts[typeof of]] => [{ job }, each[of]])
  registerHistogram(registry, {
    name: 'everytick_lateness_seconds',
    help: 'How long after they were due this process began attempts, by queue.',
    bounds: BOUNDS.lateness,
    read: () =>
      [...counters.queues.entries()].map(([queue, counts]): [{ queue: string }, ClassCounts] => [{ queue }, counts]),
  })
  registerHistogram(registry, {
    name: 'everytick_duration_seconds',
    help: 'How long attempts took in this process, by job.',
    bounds: BOUNDS.duration,
    read: byJob('duration'),
  })
  registerHistogram(registry, {
    name: 'everytick_duration_timeout_ratio',
    help: 'How much of its timeout each attempt used that has one, by job.',
    bounds: BOUNDS.timeoutRatio,
    read: byJob('timeoutRatio'),
  })
  registerHistogram(registry, {
    name: 'everytick_planner_pass_seconds',
    help: 'How long passes of the planner took while this process planned.',
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
