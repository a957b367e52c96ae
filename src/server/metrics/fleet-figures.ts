/** Defines the fleet metrics. Every server exports the same values, so rules take their maximum. `fleet.ts` reads the data. */
import { shortHash } from '../../observe/audit-chain.ts'
import { OTHER } from '../../scheduler/per-name.ts'
import type { DayTotals } from './day-totals.ts'
import type { Figure, Sample } from './figure.ts'
import type { Fleet, QueueState } from './fleet.ts'

const seconds = (ms: number | null | undefined): number | null => (ms === null || ms === undefined ? null : ms / 1000)

const byQueue = (
  queues: Fleet['queues'],
  read: (queue: QueueState) => number,
  join: (a: number, b: number) => number,
): Sample[] => {
  if (!queues) return []
  const own = queues.shown.map((queue): Sample => [{ queue: queue.name }, read(queue)])
  return queues.hidden.length === 0 ? own : [...own, [{ queue: OTHER }, queues.hidden.map(read).reduce(join)]]
}

const byOutcome = (today: DayTotals | null, outcomes: readonly (keyof DayTotals)[]): Sample[] =>
  today ? outcomes.map((outcome) => [{ outcome }, today[outcome]]) : []

export const FLEET_FIGURES: readonly Figure<Fleet>[] = [
  {
    name: 'everytick_evaluation_lag_seconds',
    help: 'How long the most overdue schedule has waited to be planned; 0 while planning keeps up.',
    kind: 'gauge',
    read: ({ lagMs }) => seconds(lagMs),
  },
  {
    name: 'everytick_coverage_ratio',
    help: 'Share of expected occurrences that became a run or a recorded non-run; audited in samples of schedules.',
    kind: 'gauge',
    read: ({ coverage }) => coverage,
  },
  {
    name: 'everytick_queue_depth',
    help: 'Due runs that wait for a worker, by queue; counted up to 10,000.',
    kind: 'gauge',
    labels: ['queue'],
    read: ({ queues }) =>
      byQueue(
        queues,
        ({ ready }) => ready,
        (a, b) => a + b,
      ),
  },
  {
    name: 'everytick_queue_oldest_due_seconds',
    help: 'How long the oldest waiting run has been due, by queue; 0 if none is due, and while the queue is paused.',
    kind: 'gauge',
    labels: ['queue'],
    read: ({ queues, now }) =>
      byQueue(
        queues,
        // Runs of a paused queue wait on purpose, so an alert on this metric must not fire.
        ({ oldestDueAt, pause }) => (oldestDueAt === null || pause ? 0 : Math.max(0, now - oldestDueAt) / 1000),
        Math.max,
      ),
  },
  {
    name: 'everytick_queues_hidden',
    help: 'Queues without their own series, which share the label other; counted up to 1,000.',
    kind: 'gauge',
    read: ({ queues }) => queues?.hidden.length ?? null,
  },
  {
    name: 'everytick_workers_alive',
    help: 'Processes that reported within the last 20 seconds.',
    kind: 'gauge',
    read: ({ workers }) => workers,
  },
  {
    name: 'everytick_schedules',
    help: 'Stored schedules; a large number is an estimate.',
    kind: 'gauge',
    read: ({ sizes }) => sizes?.schedules ?? null,
  },
  {
    name: 'everytick_quarantined_schedules',
    help: 'Quarantined schedules: the planner could not plan them.',
    kind: 'gauge',
    read: ({ sizes }) => sizes?.quarantined ?? null,
  },
  {
    name: 'everytick_live_runs',
    help: 'Runs that are pending or running; a large number is an estimate.',
    kind: 'gauge',
    read: ({ sizes }) => sizes?.liveRuns ?? null,
  },
  {
    name: 'everytick_orphaned_rows',
    help: 'Runs whose lease has expired and that the reaper has not taken back yet; counted up to 200.',
    kind: 'gauge',
    read: ({ orphaned }) => orphaned,
  },
  {
    name: 'everytick_dead_tuples',
    help: 'Dead rows in the table of live runs that Postgres has not vacuumed yet.',
    kind: 'gauge',
    read: ({ health }) => health?.deadTuples ?? null,
  },
  {
    name: 'everytick_oldest_snapshot_seconds',
    help: 'Age of the oldest transaction in Postgres that keeps dead rows from being vacuumed.',
    kind: 'gauge',
    read: ({ health }) => seconds(health?.oldestSnapshotMs),
  },
  {
    name: 'everytick_store_bytes',
    help: 'Size of the database.',
    kind: 'gauge',
    read: ({ health }) => health?.bytes ?? null,
  },
  {
    name: 'everytick_planner_leadership_changes_total',
    help: 'How often the planner lease has changed hands, in the whole fleet.',
    kind: 'counter',
    read: ({ leadershipChanges }) => leadershipChanges,
  },
  {
    name: 'everytick_fleet_runs_total',
    help: 'Runs of the whole fleet that ended since midnight UTC, by outcome; up to six minutes old.',
    kind: 'counter',
    labels: ['outcome'],
    read: ({ today }) => byOutcome(today, ['succeeded', 'failed', 'cancelled']),
  },
  {
    name: 'everytick_fleet_non_runs_total',
    help: 'Occurrences of the whole fleet that became no run since midnight UTC, by outcome; up to six minutes old.',
    kind: 'counter',
    labels: ['outcome'],
    read: ({ today }) => byOutcome(today, ['skipped', 'missed']),
  },
  {
    name: 'everytick_fleet_attempts_total',
    help: 'Attempts of the runs of the whole fleet that ended since midnight UTC; up to six minutes old.',
    kind: 'counter',
    read: ({ today }) => today?.attempts ?? null,
  },
  {
    name: 'everytick_double_fires_total',
    help: 'Occurrences of the whole fleet that became more than one run since midnight UTC; expected: 0.',
    kind: 'counter',
    read: ({ today }) => today?.doubled ?? null,
  },
  {
    name: 'everytick_audit_log_entries',
    help: 'The number of the newest entry of the audit log; it never falls.',
    kind: 'gauge',
    read: ({ audit }) => audit?.entries ?? null,
  },
  {
    name: 'everytick_audit_log_head',
    help: 'The first 12 hexadecimal digits of the newest hash of the audit log, as a number.',
    kind: 'gauge',
    read: ({ audit }) => audit && shortHash(audit.hash),
  },
]
