/** The worst requests that one bound operate key can send, by operation; sending them is `attacker.mjs`. */
const DAY_MS = 86_400_000
/** Near the largest payload that is accepted, and as expensive to write as text can be. */
const PAYLOAD = { text: '"\\'.repeat(60_000) }
const LARGEST = { junk: 'x'.repeat(1_000_000) }

const pick = (list) => list[Math.floor(Math.random() * list.length)]
const inDays = (days) => new Date(Date.now() + days * DAY_MS).toISOString()
const listed = (count, make) => Array.from({ length: count }, (_, i) => make(i))

/** What is opened, never read, and opened again: paths of streams, by operation. */
export const STREAMS = {
  followEvents: () => '/events',
  readLogs: (known) => `/runs/${known('run')}/logs`,
}

/** Accepted only at the right moment. */
const RARELY_ACCEPTED = [
  ...['retryRun', 'deleteRun', 'completeRun', 'cancelBackfill', 'cancelOperation'],
  ...['acknowledgeAlert', 'muteAlert', 'unmuteAlert', 'resolveAlert'],
]

/**
 * For each operation that costs more than one row: makers of a request, which is a method, a path and a body. `known` picks among the ids
 * that earlier answers named, of schedules, runs, backfills, operations and alerts. `timings` are those of `hostile-timings.ts`.
 */
export function createAttacks({ known, timings: { HOSTILE, ALMOST_NOTHING } }) {
  let number = 0
  const fresh = () => `${++number}-${process.pid}`
  // The others fire more often than a bound key may ask for.
  const kinds = Object.keys(HOSTILE).filter((kind) => kind !== 'instants')
  const timing = () => HOSTILE[pick(kinds)](++number)
  const schedule = () => `/schedules/${known('schedule')}`
  const run = () => `/runs/${known('run')}`
  const many = () => ({ key: fresh(), job: 'bulk', tags: [fresh()], payload: PAYLOAD, ...timing() })
  const get = (path) => () => ['GET', typeof path === 'string' ? path : path()]

  return {
    createSchedule: [
      () => ['POST', '/schedules', many()],
      () => ['POST', '/schedules', { ...many(), queue: `q-${fresh()}` }],
    ],
    putSchedule: [
      () => {
        const { key, ...definition } = many()
        return ['PUT', `/schedules/by-key/attacker/${key}`, definition]
      },
    ],
    patchSchedule: [() => ['PATCH', schedule(), { payload: PAYLOAD, ...timing() }]],
    deleteSchedule: [() => ['DELETE', schedule()]],
    pauseSchedule: [() => ['POST', `${schedule()}/pause`, { reason: fresh() }]],
    resumeSchedule: [() => ['POST', `${schedule()}/resume`, { from: 'catchUp' }]],
    triggerSchedule: [() => ['POST', `${schedule()}/trigger`, { payload: PAYLOAD }]],
    createBackfill: [
      () => ['POST', `${schedule()}/backfills`, { from: inDays(-0.01), to: inDays(-0.001), payload: PAYLOAD }],
      () => ['POST', `${schedule()}/backfills`, { from: inDays(-20_000), to: inDays(-1), dryRun: true }],
    ],
    cancelBackfill: [() => ['POST', `/backfills/${known('backfill')}/cancel`]],
    nextOccurrences: [get(() => `${schedule()}/next?n=200`)],
    whySchedule: [
      get(() => `${schedule()}/why?at=${inDays(400)}`),
      get(() => `${schedule()}/why?at=${inDays(-0.001)}`),
    ],
    listSchedules: [
      get('/schedules?limit=200&last=20&include=payload'),
      get('/schedules?limit=200&q=zz&health=overdue'),
    ],
    listBackfills: [get(() => `${schedule()}/backfills`)],
    listAllBackfills: [get('/backfills?limit=200')],
    listRevisions: [get(() => `${schedule()}/revisions?include=payload`)],
    listExecutions: [get(() => `${schedule()}/executions?limit=200&include=payload,result`)],
    listRuns: [
      get('/runs?limit=200&include=payload,result'),
      get('/runs?limit=200&status=failed,skipped,missed&job=bulk'),
    ],
    enqueueRun: [
      () => ['POST', '/runs', { job: 'bulk', payload: PAYLOAD }],
      () => ['POST', '/runs', { job: 'bulk', queue: `q-${fresh()}`, payload: PAYLOAD }],
      () => ['POST', '/runs', { job: 'bulk', concurrencyKey: fresh(), priority: 9 }],
      () => ['POST', '/runs', { job: `fails-${number % 10}` }],
      () => ['POST', '/runs', { job: 'talks' }],
      () => ['POST', '/runs', { job: 'slow' }],
      () => ['POST', '/runs', LARGEST],
    ],
    readLogs: [get(() => `${run()}/logs?limit=5000`)],
    listAttempts: [get(() => `${run()}/attempts?include=result`)],
    cancelRun: [() => ['POST', `${run()}/cancel`]],
    retryRun: [() => ['POST', `${run()}/retry`]],
    deleteRun: [() => ['DELETE', run()]],
    completeRun: [() => ['POST', `${run()}/complete`, { fence: 1, outcome: 'succeeded', result: PAYLOAD }]],
    overview: [get('/overview')],
    listJobs: [get('/jobs')],
    listQuotas: [get('/quotas')],
    explainTiming: [
      () => ['POST', '/explain', { ...timing(), n: 100, jitter: '50%' }],
      () => ['POST', '/explain', { ...ALMOST_NOTHING, n: 100 }],
      () => ['POST', '/explain', { ...HOSTILE.dense(++number), n: 100, from: '1970-01-01T00:00:00Z' }],
    ],
    previewSchedules: [
      () => ['POST', '/preview', { schedules: listed(20, () => ({ key: fresh(), job: 'bulk', ...timing() })) }],
      () => ['POST', '/preview', { schedules: listed(3, () => many()) }],
    ],
    simulateSchedule: [
      () => ['POST', '/simulate', { ...timing(), to: inDays(1000), durations: '90s', catchUp: 'all' }],
      () => [
        'POST',
        '/simulate',
        {
          ...{ ...HOSTILE.dense(++number), overlap: 'queue', durations: listed(100, (i) => `${i}s`) },
          outages: listed(100, (i) => ({ from: inDays(i / 100), to: inDays(i / 100 + 0.005) })),
        },
      ],
    ],
    readForecast: [
      get(() => `/forecast?bucket=1m&from=${inDays(1)}&to=${inDays(2)}`),
      get(() => `/forecast?bucket=1h&from=${inDays(1)}&to=${inDays(60)}`),
    ],
    readSpikes: [get('/forecast/spikes')],
    readClockChanges: [get('/forecast/clock-changes')],
    readLedger: [get('/ledger')],
    createOperation: [
      () => ['POST', '/operations', { action: 'schedules.trigger', filter: { all: true } }],
      () => ['POST', '/operations', { action: 'schedules.jitter', filter: { all: true }, jitter: `${++number}s` }],
      () => ['POST', '/operations', { action: 'runs.retry', filter: { job: 'bulk' } }],
    ],
    cancelOperation: [() => ['POST', `/operations/${known('operation')}/cancel`]],
    listOperations: [get('/operations?limit=200')],
    listAlerts: [get('/alerts?limit=200')],
    acknowledgeAlert: [() => ['POST', `/alerts/${known('alert')}/acknowledge`]],
    muteAlert: [() => ['POST', `/alerts/${known('alert')}/mute`, { for: '1h' }]],
    unmuteAlert: [() => ['POST', `/alerts/${known('alert')}/unmute`]],
    resolveAlert: [() => ['POST', `/alerts/${known('alert')}/resolve`]],
    listAlertRules: [get('/alert-rules')],
  }
}

/** As many schedules that fire every second as the quota allows; their runs may stand side by side. */
export const denseSchedule = (key) => ['POST', '/schedules', { key, job: 'bulk', every: '1s', overlap: 'allow' }]

/** Operations of which a request has to be accepted, or it was no attack. */
export const MUST_ACCEPT = Object.keys({
  ...createAttacks({ known: () => 'none', timings: { HOSTILE: {}, ALMOST_NOTHING: {} } }),
  ...STREAMS,
}).filter((name) => !RARELY_ACCEPTED.includes(name))
