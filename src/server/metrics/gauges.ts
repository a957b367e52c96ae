/** Which figures of the fleet are shown, under which names, and how each is read from one look; the look is `fleet.ts`. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Fleet, QueueState } from './fleet.ts'
import { capped } from './per-name.ts'

/** Null, or no entry, for what is not known, which is then not shown. */
type Reading = number | null | readonly (readonly [label: string, value: number])[]

interface Figure {
  readonly name: string
  readonly help: string
  readonly label?: string
  readonly read: (fleet: Fleet) => Reading
}

const seconds = (ms: number | null | undefined): number | null => (ms === null || ms === undefined ? null : ms / 1000)

const byQueue = (
  queues: Fleet['queues'],
  read: (queue: QueueState) => number,
  join: (a: number, b: number) => number,
): Reading =>
  capped(
    (queues ?? []).map((queue) => [queue.name, read(queue)]),
    join,
  )

const FIGURES: readonly Figure[] = [
  {
    name: 'everytick_store_up',
    help: 'Whether the store answered this process: 1, or 0 when not.',
    read: ({ up }) => (up ? 1 : 0),
  },
  {
    name: 'everytick_evaluation_lag_seconds',
    help: 'For how long the most overdue schedule has been waiting to be planned; 0 while planning keeps up.',
    read: ({ lagMs }) => seconds(lagMs),
  },
  {
    name: 'everytick_coverage_ratio',
    help: 'Occurrences accounted for, as runs or recorded non-runs, of those there should be; audited in samples of schedules.',
    read: ({ coverage }) => coverage,
  },
  {
    name: 'everytick_queue_depth',
    help: 'Runs that are due and wait, by queue; counted up to 10,000.',
    label: 'queue',
    read: ({ queues }) =>
      byQueue(
        queues,
        ({ ready }) => ready,
        (a, b) => a + b,
      ),
  },
  {
    name: 'everytick_queue_oldest_due_seconds',
    help: 'For how long the run that waits longest has been due, by queue; 0 when none is due.',
    label: 'queue',
    read: ({ queues, now }) =>
      byQueue(
        queues,
        ({ oldestDueAt }) => (oldestDueAt === null ? 0 : Math.max(0, now - oldestDueAt) / 1000),
        Math.max,
      ),
  },
  {
    name: 'everytick_workers_alive',
    help: 'Processes that were heard from within the last 15 seconds.',
    read: ({ workers }) => workers,
  },
  {
    name: 'everytick_schedules',
    help: 'Schedules that are stored; a large number is an estimate.',
    read: ({ sizes }) => sizes?.schedules ?? null,
  },
  {
    name: 'everytick_quarantined_schedules',
    help: 'Schedules that cannot be planned and were set aside.',
    read: ({ sizes }) => sizes?.quarantined ?? null,
  },
  {
    name: 'everytick_live_runs',
    help: 'Runs that are pending or running; a large number is an estimate.',
    read: ({ sizes }) => sizes?.liveRuns ?? null,
  },
  {
    name: 'everytick_orphaned_rows',
    help: 'Runs whose lease has ended and that nobody has taken back yet; counted up to 200.',
    read: ({ orphaned }) => orphaned,
  },
  {
    name: 'everytick_clock_skew_seconds',
    help: 'How far the clock of this machine is ahead of the clock of the database.',
    read: ({ skewMs }) => seconds(skewMs),
  },
  {
    name: 'everytick_pool_connections',
    help: 'Connections of this process to its database, by state: used and idle; waiting are callers without one.',
    label: 'state',
    read: ({ health }) => {
      const pool = health?.pool
      if (!pool) return []
      return Object.entries({ used: pool.used, idle: pool.size - pool.used, waiting: pool.waiting })
    },
  },
  {
    name: 'everytick_dead_tuples',
    help: 'Dead rows in the table of live runs that Postgres has yet to clear away.',
    read: ({ health }) => health?.deadTuples ?? null,
  },
  {
    name: 'everytick_oldest_snapshot_seconds',
    help: 'For how long the oldest transaction in Postgres has kept dead rows from being cleared away.',
    read: ({ health }) => seconds(health?.oldestSnapshotMs),
  },
  {
    name: 'everytick_store_bytes',
    help: 'How much room the store takes.',
    read: ({ health }) => health?.bytes ?? null,
  },
]

/** Those that only grow. */
const TOTALS: readonly Figure[] = [
  {
    name: 'everytick_planner_leadership_changes_total',
    help: 'How often the lease of the planner has changed hands, in the whole fleet.',
    read: ({ leadershipChanges }) => leadershipChanges,
  },
  {
    name: 'everytick_double_fires_total',
    help: 'Occurrences that became more than one run, in the whole fleet, since this server began; there should be none.',
    read: ({ doubleFires }) => doubleFires,
  },
]

export function registerGauges(registry: Registry, look: () => Promise<Fleet>): void {
  for (const { name, help, label, read } of FIGURES) {
    new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      async collect() {
        const reading = read(await look())
        this.reset()
        if (reading === null) this.remove()
        else if (typeof reading === 'number') this.set(reading)
        else for (const [value, number] of reading) this.set({ [label!]: value }, number)
      },
    })
  }
  for (const { name, help, read } of TOTALS) {
    new Counter({
      name,
      help,
      registers: [registry],
      async collect() {
        const reading = read(await look())
        this.reset()
        if (typeof reading === 'number') this.inc(reading)
        else this.remove()
      },
    })
  }
}
