/** What alerts, doctor, metrics and logs must say in each situation: the one table that `npm run situations` judges by and that docs/operate/situations.md is written from. */

/** A condition on a series: of some scrape `during` or `soon after`, of the last one `after`, of each one `always`. Labels left out are added up. */
const during = (of, series, is, value) => ({ when: 'during', of, series, is, value })
const after = (of, series, is, value) => ({ when: 'after', of, series, is, value })
const soonAfter = (of, series, is, value) => ({ when: 'soon after', of, series, is, value })
const always = (of, series, is, value) => ({ when: 'always', of, series, is, value })

/** Of every situation, once it is over. */
const WELL_AFTER = [
  after('serve', 'up', '=', 1),
  after('worker', 'up', '=', 1),
  after('serve', 'everytick_store_up', '=', 1),
  after('worker', 'everytick_store_up', '=', 1),
  after('serve', 'everytick_orphaned_rows', '=', 0),
  after('serve', 'everytick_evaluation_lag_seconds', '<', 10),
  after('serve', 'everytick_queue_oldest_due_seconds', '<', 15),
  always('serve', 'everytick_double_fires_total', '=', 0),
]

/** What was recorded as missed when it was over; `EverytickMissed` is made of it. */
const MISSED = after('serve', 'everytick_missed_total', '>', 0)

/** A line that a person should look at. `of`: whose; `optional`: it may be there. */
const line = (of, level, message, optional = false) => ({ of, level, message, optional })
const mayLine = (of, level, message) => line(of, level, message, true)
/** Of a run whose worker did not come back in time. */
const TAKEN_BACK = mayLine('serve', 'warn', /the lease ended/)
const REFUSED = mayLine('worker', 'warn', /lost its lease|late result/)
const NO_PLANNER = mayLine('worker', 'warn', /no process plans/)
const alert = (kind, title = null) => ({ kind, title })

const SOON = ['--resolve-after', '15s']

export const SITUATIONS = [
  {
    name: 'all well',
    what: 'Both processes run, for 75 s.',
    lastsMs: 75_000,
    settledMs: 0,
    quietMs: 0,
    opens: [],
    may: [],
    stays: [],
    rules: [],
    doctor: { exit: 0, says: {} },
    metrics: [
      always('serve', 'everytick_store_up', '=', 1),
      always('worker', 'everytick_store_up', '=', 1),
      during('serve', 'everytick_workers_alive', '=', 2),
      during('worker', 'everytick_runs_total{job="quick",outcome="succeeded"}', '>', 0),
    ],
    lines: [],
    prometheus: [],
    note: '',
  },
  {
    name: 'worker killed',
    what: 'The only worker ends by SIGKILL; another one starts when the alerts have opened.',
    when: '1 m after the first run waits',
    opens: [alert('no_worker'), alert('schedule_not_fired')],
    may: [{ kind: 'no_success' }],
    stays: [],
    rules: [
      ['no-worker', ...SOON],
      ['schedule-not-fired', ...SOON],
      ['no-success', ...SOON],
    ],
    doctor: { exit: 5, says: { queues: 'wrong', alerts: 'wrong' } },
    metrics: [
      during('worker', 'up', '=', 0),
      during('serve', 'everytick_workers_alive', '=', 1),
      during('serve', 'everytick_queue_oldest_due_seconds{queue="default"}', '>', 50),
    ],
    lines: [TAKEN_BACK],
    prometheus: ['EverytickProcessDown', 'EverytickQueueWaiting'],
    note: 'Runs that the worker had begun go back to the queue when their lease ends, and run again. After 5 m, `queue_age` and `no_success` open too.',
  },
  {
    name: 'worker frozen',
    what: 'SIGSTOP freezes the only worker (like a machine that hangs); SIGCONT resumes it when the alerts have opened.',
    when: '1 m after the first run waits',
    opens: [alert('no_worker'), alert('schedule_not_fired')],
    may: [{ kind: 'no_success' }],
    stays: [],
    rules: [
      ['no-worker', ...SOON],
      ['schedule-not-fired', ...SOON],
      ['no-success', ...SOON],
    ],
    doctor: { exit: 5, says: { queues: 'wrong', alerts: 'wrong' } },
    metrics: [
      during('worker', 'up', '=', 0),
      during('serve', 'everytick_workers_alive', '=', 1),
      during('serve', 'everytick_queue_oldest_due_seconds{queue="default"}', '>', 50),
      soonAfter('worker', 'everytick_event_loop_delay_seconds', '>', 4),
    ],
    lines: [TAKEN_BACK, REFUSED],
    prometheus: ['EverytickProcessDown', 'EverytickQueueWaiting', 'EverytickEventLoopBlocked'],
    note: 'Other workers claim its runs meanwhile, and its late results are not accepted.',
  },
  {
    name: 'planner killed',
    what: '`serve`, the only process that plans, ends by SIGKILL for 40 s.',
    lastsMs: 40_000,
    when: 'within 15 s of its return',
    opens: [alert('missed')],
    may: [],
    stays: ['missed'],
    rules: [],
    doctor: { exit: 5, says: { planner: 'wrong' } },
    metrics: [
      during('serve', 'up', '=', 0),
      during('worker', 'up', '=', 1),
      during('worker', 'everytick_store_up', '=', 1),
      MISSED,
    ],
    lines: [line('worker', 'warn', /no process plans/), line('serve', 'warn', /occurrences were recorded as missed/)],
    prometheus: ['EverytickProcessDown', 'EverytickFleetUnknown', 'EverytickMissed'],
    note:
      'No alert can open while `serve` is away, because it evaluates the rules. The heartbeat stops, and Prometheus sees `up 0`. ' +
      '`missed` is correct: `catchUp: latest` skips all but the newest occurrence. If another process can plan, it takes over within 4 s ' +
      'and nothing opens. If no process plans but another server evaluates rules, `planner_stalled` opens after 30 s and `schedule_not_fired` after 1 m.',
  },
  {
    name: 'database away',
    what: 'For 60 s Postgres is down, or another process holds the lock of the SQLite file.',
    lastsMs: 60_000,
    // A file that is locked for writing can be read.
    cannotRead: 'postgres',
    when: 'within 15 s of its return',
    opens: [alert('missed')],
    may: [],
    stays: ['missed'],
    rules: [],
    doctor: {
      postgres: { exit: 5, says: { store: 'wrong' }, cause: /does not listen/ },
      // A file that is locked for writing can be read.
      sqlite: { exit: 5, says: { writes: 'wrong', planner: 'wrong', queues: 'wrong' }, cause: /stayed locked/ },
    },
    metrics: [
      during('serve', 'up', '=', 1),
      during('worker', 'up', '=', 1),
      during('serve', 'everytick_engine_errors_total', '>', 10),
      during('worker', 'everytick_engine_errors_total', '>', 10),
      { ...during('serve', 'everytick_workers_alive', '=', 0), on: 'sqlite' },
      during('serve', 'everytick_store_up', '=', 0),
      during('worker', 'everytick_store_up', '=', 0),
      MISSED,
    ],
    lines: [
      line('serve', 'error', /(failed|still fails)/),
      line('worker', 'error', /(failed|still fails)/),
      line('serve', 'info', /works again/),
      line('worker', 'info', /works again/),
      line('serve', 'warn', /occurrences were recorded as missed/),
      TAKEN_BACK,
      REFUSED,
      NO_PLANNER,
    ],
    prometheus: ['EverytickStoreAway', 'EverytickNoWorkers', 'EverytickEngineErrors', 'EverytickMissed'],
    note: 'No alert can be stored while the database is down; the heartbeat stops.',
  },
  {
    name: 'disk full',
    what: 'The disk of the database is full for 40 s.',
    lastsMs: 40_000,
    needsDisk: true,
    when: 'within 15 s of room on it',
    opens: [alert('missed')],
    // Where its page has room an alert can be stored, and planning is behind by then.
    may: [{ kind: 'planner_stalled', on: 'postgres' }],
    stays: ['missed'],
    rules: [],
    doctor: {
      // A new connection may need room. Presence is one row, which is written where it is.
      postgres: [
        { exit: 5, says: { store: 'wrong' }, cause: /no disk space left/ },
        { exit: 5, says: { writes: 'wrong', planner: 'wrong' }, cause: /no disk space left/ },
      ],
      sqlite: { exit: 5, says: { writes: 'wrong', planner: 'wrong', queues: 'wrong' }, cause: /its disk is full/ },
    },
    metrics: [
      during('serve', 'up', '=', 1),
      during('worker', 'up', '=', 1),
      during('serve', 'everytick_store_up', '=', 0),
      during('worker', 'everytick_store_up', '=', 0),
      during('serve', 'everytick_engine_errors_total', '>', 10),
      during('worker', 'everytick_engine_errors_total', '>', 10),
      { ...during('serve', 'everytick_workers_alive', '=', 0), on: 'sqlite' },
      during('serve', 'everytick_evaluation_lag_seconds', '>', 10),
      MISSED,
    ],
    lines: [
      line('serve', 'error', /(failed|still fails)/),
      line('worker', 'error', /(failed|still fails)/),
      line('serve', 'info', /works again/),
      line('worker', 'info', /works again/),
      line('serve', 'warn', /occurrences were recorded as missed/),
      TAKEN_BACK,
      REFUSED,
      NO_PLANNER,
    ],
    prometheus: [
      ...['EverytickStoreAway', 'EverytickNoWorkers', 'EverytickEngineErrors', 'EverytickPlanningBehind'],
      'EverytickMissed',
    ],
    note:
      'On SQLite every write fails, so that no alert can be stored; the heartbeat stops. On Postgres only writes that need another page fail: ' +
      'new runs and results of runs. `planner_stalled` opens there once planning is 30 s behind, if the page of the alert has room.',
  },
  {
    name: 'hung handler',
    what: 'A handler without a timeout, of a schedule every 2 s under `overlap: skip`, does not return until the alerts have opened.',
    when: '1 m to 5 m, at least 3 periods',
    opens: [
      alert('run_too_long'),
      alert('no_success', 'Schedule default/upload has had no successful run for too long'),
    ],
    may: [],
    stays: [],
    rules: [
      ['no-success', '--setting', 'atLeast=1m', ...SOON],
      ['run-too-long', ...SOON],
    ],
    doctor: { exit: 5, says: { alerts: 'wrong' } },
    metrics: [during('worker', 'everytick_slots_busy{queue="default"}', '>', 0)],
    lines: [],
    prometheus: [],
    note:
      'Meanwhile occurrences are recorded as skipped. `run_too_long` waits for ten times what the schedule usually takes, 1 m at least. ' +
      'With a timeout, which ends the attempt, it waits for 90 % of it, or for three times the p95 of the job if the last day had 20 runs. ' +
      '`no_success` waits for 3 periods, 5 m at least.',
  },
  {
    name: 'nightly fails once',
    failsAtOnce: true,
    settledMs: 0,
    what: 'A nightly job without a retry fails. Then it is triggered, and succeeds.',
    when: 'within 15 s',
    opens: [alert('run_failed', 'Schedule default/nightly failed')],
    may: [],
    stays: [],
    once: {
      kind: 'run_failed',
      values: { job: 'report', schedule: 'default/nightly', error: 'Error: rates are missing' },
    },
    rules: [['run-failed', ...SOON]],
    doctor: { exit: 0, says: { alerts: 'warning' } },
    metrics: [after('worker', 'everytick_runs_total{job="report",outcome="failed"}', '=', 1)],
    lines: [line('worker', 'error', /job "report" failed: rates are missing/)],
    prometheus: ['EverytickRunFailed'],
    note: 'Exactly one alert opens, which names job, schedule and error.',
  },
  {
    name: 'restart after three minutes',
    what: 'SIGTERM ends both processes; they start again three minutes later.',
    lastsMs: 180_000,
    when: 'within 15 s of the start',
    opens: [alert('missed')],
    may: [],
    stays: ['missed'],
    rules: [],
    exits: [0, 0],
    doctor: { exit: 5, says: { planner: 'wrong', queues: 'wrong', watch: 'warning' } },
    metrics: [during('serve', 'up', '=', 0), during('worker', 'up', '=', 0), MISSED],
    lines: [line('serve', 'warn', /occurrences were recorded as missed/)],
    prometheus: ['EverytickAbsent', 'EverytickProcessDown', 'EverytickMissed'],
    note: 'No schedule counts as late until the `grace` in which the planner catches up has passed.',
  },
  {
    name: 'queue paused',
    what: 'A queue with a schedule every 2 s and one every minute is paused for 100 s, then resumed.',
    lastsMs: 100_000,
    opens: [],
    may: [],
    stays: [],
    rules: [],
    doctor: { exit: 0, says: {} },
    metrics: [
      during('serve', 'everytick_queue_depth{queue="mail"}', '>', 0),
      always('serve', 'everytick_store_up', '=', 1),
    ],
    lines: [],
    prometheus: [],
    note: 'Runs of a paused queue wait on purpose. Their waiting time counts from the end of the pause.',
  },
].map((row) => ({ ...row, metrics: [...row.metrics, ...WELL_AFTER] }))

/** The same within about a minute, for the test suite: rules are quicker, and nothing is held back for as long. */
const SHORTER = {
  'all well': { what: 'Both processes run, for 20 s.', lastsMs: 20_000 },
  'hung handler': {
    settledMs: 10_000,
    quietMs: 0,
    rules: [
      ['no-success', '--setting', 'atLeast=5s', '--resolve-after', '1s'],
      ['run-too-long', '--setting', 'atLeast=5s', '--resolve-after', '1s'],
    ],
  },
  'queue paused': {
    settledMs: 5000,
    lastsMs: 35_000,
    quietMs: 20_000,
    rules: [
      ['queue-age', '--setting', 'age=10s'],
      ['no-worker', '--setting', 'for=10s'],
      ['schedule-not-fired', '--setting', 'grace=10s'],
    ],
  },
}

export const SHORT = SITUATIONS.filter(({ name }) => name in SHORTER).map((row) => ({ ...row, ...SHORTER[row.name] }))
