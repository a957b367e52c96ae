/** For every operation the requests that cost the server most among those that it accepts; how long they hold it is measured by `event-loop.test.ts`. */
import { nextStep } from '../../src/plan/backfill.ts'
import type { OPERATION_RULES } from '../../src/server/operation-rules.ts'
import { CASES, failedRun, leasedRun } from './cases.ts'
import { ALMOST_NOTHING, HOSTILE } from './hostile-timings.ts'
import type { Stage } from './stage.ts'

export interface Sent {
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly as?: string | null
  /** The code of the refusal, where the server accepts it no further than it must to refuse it. */
  readonly refused?: string
  /** In a word, where an operation has several. */
  readonly what?: string
}

/** A stage with schedules and runs that are as bad as they can be. */
export interface HostileStage {
  readonly stage: Stage
  /** Ids of a schedule of each kind, in the workspace of each round. */
  readonly schedules: readonly Readonly<Record<string, string>>[]
  readonly runs: readonly string[]
  /** One with as many open runs as there may be. */
  readonly backfill: string
}

/** In a round of its own, so that no answer is one that was computed before. */
export type Worst = (hostile: HostileStage, round: number) => Promise<readonly Sent[]> | readonly Sent[]

export const ROUNDS = 3
/** The workspace with as many schedules as a page has. */
const BACKLOG = 'crowd'
/** With keys that are all worth comparing with a mistyped one. */
const TYPOS = 'typos'
export const workspaceOf = (round: number): string => `round-${round}`

let count = 0
const fresh = (): string => `worst-${++count}`
/** As long as a name may be. */
const longName = (start: string): string => start.padEnd(200, 'x')

/** The widest of what is no timing. */
export const wide = (key: string): object => ({
  key: longName(key),
  job: 'typed',
  tags: Array.from({ length: 50 }, (_, i) => longName(`${i}-`)),
  description: 'd'.repeat(2000),
  metadata: { text: 'm'.repeat(4000) },
  payload: bulky(),
})

/** A payload as large as one may be, of which every second character must be escaped. */
const bulky = (): object => ({ account: 'a"'.repeat(85_000), secret: 's' })
/** JSON of this size, of as many values as it may have. */
const manyValues = (bytes: number): number[] =>
  Array.from({ length: Math.min(49_000, Math.floor(bytes / 5)) }, (_, i) => 1000 + (i % 9000))
const nested = (objects: number): object[] => Array.from({ length: objects }, (_, i) => ({ a: [i] }))
const manyFields = (names: number): object =>
  Object.fromEntries(Array.from({ length: names }, (_, i) => [`key-${i}`.padEnd(9, 'x'), 1]))
/** A body as large as one may be, which fits no schema. */
const LARGEST = { junk: 'x'.repeat(1_048_000) }
const DEEPEST = { junk: Array.from({ length: 24_900 }, () => [[0]].flat()) }

const kinds = Object.keys(HOSTILE)
/** Of which decades may be run afterwards at once. */
const RARE = ['words', 'years']
const timing = (kind: string): object => HOSTILE[kind]!(++count)
const bodies = (path: string, make: (kind: string) => object): Sent[] =>
  kinds.map((kind) => ({ path, what: kind, body: make(kind) }))
const bySchedule = ({ schedules }: HostileStage, round: number, rest: (kind: string) => Omit<Sent, 'what'>): Sent[] =>
  kinds.map((kind) => {
    const { path, ...more } = rest(kind)
    return { ...more, what: kind, path: `/schedules/${schedules[round]![kind]}${path}` }
  })
/** That of the contract's table, where nothing that is sent makes it worse. */
const plain =
  (id: string): Worst =>
  async ({ stage }) => {
    const { path, body, headers, as } = (await CASES[id]!(stage)).happy
    return [
      {
        path,
        ...(body === undefined ? {} : { body }),
        ...(headers ? { headers } : {}),
        ...(as === undefined ? {} : { as }),
      },
    ]
  }
const refusedBodies = (path: string): Sent[] => [
  { path, what: 'numbers', body: Array.from({ length: 500_000 }, () => 1), refused: 'BODY_INVALID' },
  { path, what: 'empty lists', body: Array.from({ length: 340_000 }, () => []), refused: 'BODY_INVALID' },
  { path, what: 'unknown fields', body: manyFields(18_000), refused: 'REQUEST_INVALID' },
  {
    ...{ path, what: 'entries', refused: 'REQUEST_INVALID' },
    body: { any: manyValues(200_000), exclude: [], tags: [] },
  },
  { path, what: 'largest', body: LARGEST, refused: 'REQUEST_INVALID' },
  { path, what: 'deepest', body: DEEPEST, refused: 'REQUEST_INVALID' },
]
const DAY_MS = 86_400_000
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString()

export const WORST: Readonly<Record<keyof typeof OPERATION_RULES, Worst>> = {
  listSchedules: (_, round) => [
    { path: `/schedules?limit=200&last=10&workspace=${BACKLOG}` },
    { path: `/schedules?limit=200&include=payload&workspace=${workspaceOf(round)}`, what: 'payloads' },
  ],
  createSchedule: () => [
    ...bodies('/schedules', (kind) => ({ ...wide(fresh()), ...timing(kind) })),
    {
      path: '/schedules',
      what: 'nested',
      body: { key: fresh(), job: 'typed', every: '1h', payload: { account: 'a', more: nested(16_000) } },
    },
    {
      path: '/schedules',
      what: 'almost nothing',
      refused: 'TIMING_EXPENSIVE',
      body: { ...wide(fresh()), ...ALMOST_NOTHING },
    },
    ...refusedBodies('/schedules'),
  ],
  putSchedule: (_, round) =>
    kinds.map((kind) => {
      const { key, ...definition } = wide(`put-${kind}-${round}`) as { key: string }
      return { path: `/schedules/by-key/default/${key}`, what: kind, body: { ...definition, ...timing(kind) } }
    }),
  getScheduleByKey: (_, round) => [
    ...kinds.map((kind) => ({ path: `/schedules/by-key/${workspaceOf(round)}/${longName(kind)}`, what: kind })),
    { path: `/schedules/by-key/${TYPOS}/${`z${round}`.padEnd(64, 'yx')}`, what: 'typo', refused: 'NOT_FOUND' },
  ],
  getSchedule: (hostile, round) => bySchedule(hostile, round, () => ({ path: '' })),
  patchSchedule: (hostile, round) =>
    bySchedule(hostile, round, (kind) => ({ path: '', body: { ...timing(kind), tags: [fresh()] } })),
  deleteSchedule: async ({ stage }) => {
    const made = await Promise.all(
      kinds.map((kind) => stage.ask('POST', '/schedules', { body: { ...wide(fresh()), ...timing(kind) } })),
    )
    return made.map(({ body }, i) => ({ path: `/schedules/${body.id}`, what: kinds[i]! }))
  },
  pauseSchedule: (hostile, round) => bySchedule(hostile, round, () => ({ path: '/pause', body: { reason: fresh() } })),
  resumeSchedule: (hostile, round) => bySchedule(hostile, round, () => ({ path: '/resume', body: {} })),
  triggerSchedule: (hostile, round) =>
    bySchedule(hostile, round, () => ({ path: '/trigger', body: { payload: bulky() } })),
  createBackfill: (hostile, round) => [
    ...bySchedule(hostile, round, () => ({
      path: '/backfills',
      body: { from: daysAgo(1), to: daysAgo(0.9), dryRun: true, payload: bulky() },
    })),
    ...bySchedule(hostile, round, (kind) => ({
      ...{ path: '/backfills', body: { from: daysAgo(20_000), to: daysAgo(1) } },
      ...(RARE.includes(kind) ? {} : { refused: 'OPTION_INVALID' }),
    })),
  ],
  listBackfills: (hostile, round) => bySchedule(hostile, round, () => ({ path: '/backfills' })),
  nextOccurrences: (hostile, round) => bySchedule(hostile, round, () => ({ path: `/next?n=${MOST_NEXT}` })),
  whySchedule: (hostile, round) => bySchedule(hostile, round, () => ({ path: `/why?at=${daysAgo(-400)}` })),
  listRevisions: (hostile, round) => bySchedule(hostile, round, () => ({ path: '/revisions?include=payload' })),
  listRuns: (_, round) => [
    { path: `/runs?limit=200&workspace=${workspaceOf(round)}` },
    { path: `/runs?limit=200&include=payload,result&workspace=${workspaceOf(round)}`, what: 'payloads' },
  ],
  listExecutions: (hostile, round) =>
    bySchedule(hostile, round, () => ({ path: '/executions?limit=200&include=payload,result' })),
  enqueueRun: () => [
    { path: '/runs', body: { job: 'typed', delay: '1h', payload: bulky() } },
    {
      path: '/runs',
      what: 'many values',
      body: { job: 'typed', payload: { account: 'a', more: manyValues(200_000) } },
    },
    { path: '/runs', what: 'nested', body: { job: 'typed', payload: { account: 'a', more: nested(16_000) } } },
    { path: '/runs', what: 'fields', body: { job: 'typed', payload: { account: 'a', ...manyFields(18_000) } } },
    {
      ...{ path: '/runs', what: 'too many fields', refused: 'BODY_INVALID' },
      body: { job: 'typed', payload: manyFields(48_000) },
    },
    {
      ...{ path: '/runs', what: 'idempotent', headers: { 'idempotency-key': fresh() } },
      body: { job: 'typed', delay: '1h', payload: bulky() },
    },
    ...refusedBodies('/runs'),
  ],
  getRun: ({ runs }) => [{ path: `/runs/${runs[0]}` }],
  listAttempts: ({ runs }) => [{ path: `/runs/${runs[0]}/attempts` }],
  readLogs: ({ runs }) => [{ path: `/runs/${runs[0]}/logs?limit=5000` }],
  cancelRun: ({ runs }, round) => [{ path: `/runs/${runs[1 + round]}/cancel` }],
  retryRun: async ({ stage }) => [{ path: `/runs/${(await failedRun(stage)).id}/retry` }],
  deleteRun: async ({ stage }) => [{ path: `/runs/${(await failedRun(stage)).id}` }],
  completeRun: async ({ stage }) => {
    const { id, fence } = await leasedRun(stage)
    return [{ path: `/runs/${id}/complete`, body: { fence, outcome: 'succeeded', result: manyValues(200_000) } }]
  },
  overview: (_, round) => [{ path: '/overview' }, { path: `/overview?workspace=${workspaceOf(round)}`, what: 'bound' }],
  listAllBackfills: () => [{ path: '/backfills?limit=200' }],
  getBackfill: ({ backfill }) => [{ path: `/backfills/${backfill}` }],
  cancelBackfill: plain('cancelBackfill'),
  listQueues: plain('listQueues'),
  pauseQueue: () => [{ path: `/queues/${longName(fresh())}/pause`, body: { reason: 'r'.repeat(500) } }],
  resumeQueue: plain('resumeQueue'),
  limitQueue: plain('limitQueue'),
  listWorkers: plain('listWorkers'),
  drainWorker: plain('drainWorker'),
  listJobs: plain('listJobs'),
  listLocks: plain('listLocks'),
  releaseLock: plain('releaseLock'),
  explainTiming: () => [
    ...bodies('/explain', (kind) => ({ ...timing(kind), n: 100, jitter: '50%' })),
    { path: '/explain', what: 'almost nothing', refused: 'TIMING_EXPENSIVE', body: { ...ALMOST_NOTHING, n: 100 } },
    { path: '/explain', what: 'from far', body: { ...timing('dense'), n: 100, from: '1970-01-01T00:00:00Z' } },
    ...refusedBodies('/explain'),
  ],
  previewSchedules: (_, round) => [
    ...kinds.map((kind) => ({
      path: '/preview',
      what: kind,
      body: {
        schedules: Array.from({ length: 20 }, (_each, i) => ({
          key: `${kind}-${i}-${fresh()}`,
          job: 'plain',
          ...timing(kind),
        })),
      },
    })),
    {
      path: '/preview',
      what: 'stored ones',
      body: {
        schedules: kinds.map((kind) => ({
          key: longName(kind),
          workspace: workspaceOf(round),
          job: 'plain',
          every: '1h',
        })),
      },
    },
    {
      path: '/preview',
      what: 'almost nothing',
      refused: 'TIMING_EXPENSIVE',
      body: { schedules: [{ key: 'x', job: 'plain', ...ALMOST_NOTHING }] },
    },
    {
      ...{ path: '/preview', what: 'wrong entries', refused: 'REQUEST_INVALID' },
      body: {
        schedules: Array.from({ length: 100 }, () => ({
          tags: manyValues(250),
          exclude: manyValues(500),
          any: [5, 5],
        })),
      },
    },
    ...refusedBodies('/preview'),
    {
      path: '/preview',
      what: 'payloads',
      body: { schedules: Array.from({ length: 3 }, () => ({ ...wide(fresh()), every: '1h' })) },
    },
  ],
  simulateSchedule: () => [
    ...bodies('/simulate', (kind) => ({ ...timing(kind), to: daysAgo(-1000), durations: '90s', catchUp: 'all' })),
    {
      path: '/simulate',
      what: 'outages',
      body: {
        ...timing('dense'),
        overlap: 'queue',
        durations: Array.from({ length: 100 }, (_, i) => `${i}s`),
        outages: Array.from({ length: 100 }, (_, i) => ({ from: daysAgo(-i / 100), to: daysAgo(-i / 100 - 0.005) })),
      },
    },
    {
      path: '/simulate',
      what: 'plain',
      body: { cron: '* * * * * *', overlap: 'allow', durations: '4h', to: daysAgo(-9) },
    },
    ...refusedBodies('/simulate'),
    { path: '/simulate', what: 'exclusions', body: { ...timing('needles'), to: daysAgo(-30) } },
  ],
  readForecast: (_, round) => [
    { path: `/forecast?workspace=${workspaceOf(round)}&bucket=1m&from=${daysAgo(-1)}&to=${daysAgo(-2)}` },
    { path: `/forecast?bucket=1h&from=${daysAgo(-1)}&to=${daysAgo(-62)}`, what: 'all' },
  ],
  readSpikes: (_, round) => [{ path: `/forecast/spikes?workspace=${workspaceOf(round)}` }],
  readClockChanges: (_, round) => [{ path: `/forecast/clock-changes?workspace=${workspaceOf(round)}` }],
  readLedger: (_, round) => [
    { path: `/ledger?workspace=${workspaceOf(round)}` },
    ...kinds.map((kind) => ({
      path: `/ledger?workspace=${workspaceOf(round)}&schedule=${longName(kind)}`,
      what: kind,
    })),
  ],
  followEvents: () => [{ path: '/events' }],
  createOperation: plain('createOperation'),
  listOperations: plain('listOperations'),
  getOperation: plain('getOperation'),
  cancelOperation: plain('cancelOperation'),
  listAlerts: () => [{ path: '/alerts?limit=200' }],
  getAlert: plain('getAlert'),
  acknowledgeAlert: plain('acknowledgeAlert'),
  muteAlert: plain('muteAlert'),
  unmuteAlert: plain('unmuteAlert'),
  resolveAlert: plain('resolveAlert'),
  listAlertRules: plain('listAlertRules'),
  createAlertRule: plain('createAlertRule'),
  getAlertRule: plain('getAlertRule'),
  putAlertRule: plain('putAlertRule'),
  deleteAlertRule: plain('deleteAlertRule'),
  listChannels: () => [{ path: '/channels?limit=200' }],
  createChannel: plain('createChannel'),
  getChannel: plain('getChannel'),
  patchChannel: plain('patchChannel'),
  deleteChannel: plain('deleteChannel'),
  testChannel: plain('testChannel'),
  listKeys: () => [{ path: '/api-keys?limit=200' }],
  createKey: () => [{ path: '/api-keys', body: { name: longName(fresh()), scope: 'read' } }],
  getKey: plain('getKey'),
  revokeKey: plain('revokeKey'),
  rollKey: plain('rollKey'),
  listAudit: () => [{ path: '/audit?limit=200&include=payload' }],
  getAuditHead: plain('getAuditHead'),
  verifyAudit: () => [{ path: '/audit/verify' }],
  listQuotas: plain('listQuotas'),
  signIn: plain('signIn'),
  whoAmI: plain('whoAmI'),
  signOut: plain('signOut'),
  healthz: plain('healthz'),
  readyz: plain('readyz'),
  readDoctor: plain('readDoctor'),
  runCleanup: plain('runCleanup'),
  getMetrics: plain('getMetrics'),
  openApi: plain('openApi'),
}

const MOST_NEXT = 200

/** A schedule of each kind in the workspace of each round, and runs with the largest payloads. */
export async function makeHostile(stage: Stage): Promise<HostileStage> {
  const schedules: Record<string, string>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const ids: Record<string, string> = {}
    for (const kind of kinds) {
      const body = { ...wide(kind), workspace: workspaceOf(round), ...HOSTILE[kind]!(round) }
      const answer = await stage.ask('POST', '/schedules', { body })
      if (answer.status !== 201) throw new Error(`${kind}: ${JSON.stringify(answer.body).slice(0, 500)}`)
      ids[kind] = answer.body.id
    }
    schedules.push(ids)
  }
  for (let i = 0; i < 200; i++) {
    const body = {
      key: longName(`crowd-${i}`),
      job: 'plain',
      workspace: BACKLOG,
      ...HOSTILE[kinds[i % kinds.length]!]!(i),
    }
    await stage.ask('POST', '/schedules', { body })
  }
  const runs: string[] = []
  for (let i = 0; i < 10; i++) {
    const body = { job: 'typed', workspace: workspaceOf(i % ROUNDS), payload: bulky(), delay: '1h' }
    runs.push((await stage.ask('POST', '/runs', { body })).body.id)
  }
  await stage.app.schedules.upsertMany(
    Array.from({ length: 200 }, (_, i) => ({
      ...{ key: `${i}`.padEnd(96, 'xy'), workspace: TYPOS, every: '1h', job: 'plain' as never },
    })),
  )
  const { logs } = await stage.server.parts.core.store()
  await logs.append(
    Array.from({ length: 5000 }, (_, i) => ({
      ...{
        runId: runs[0]!,
        attempt: 1,
        seq: i + 1,
        at: Date.now(),
        level: 'info' as const,
        message: 'said',
        data: null,
      },
    })),
  )
  return { stage, schedules, runs, backfill: await makeBackfills(stage, schedules[0]!.dense!) }
}

/** Many with a large payload of their own, and the newest with a thousand open runs; answers its id. */
async function makeBackfills(stage: Stage, scheduleId: string): Promise<string> {
  const store = await stage.server.parts.core.store()
  const schedule = (await store.schedules.byId(scheduleId))!
  const { workspace, key } = schedule
  const newBackfill = {
    scheduleId,
    workspace,
    key,
    by: 'test',
    fromAt: 0,
    toAt: 1e9,
    concurrency: 1000,
    force: false,
    total: 1e6,
  }
  const { newId } = stage.server.parts.core
  for (let i = 0; i < 50; i++) await store.backfills.create({ ...newBackfill, id: newId(), payload: bulky() as never })
  const id = newId()
  await store.backfills.create({ ...newBackfill, id, payload: { account: 'a'.repeat(8000) } })
  const backfill = (await store.backfills.get(id))!
  const { progress, runs } = nextStep({ backfill, schedule, ended: new Map(), taken: new Set(), now: 1e9 })
  const many = Array.from({ length: 1000 }, (_, i) => ({
    ...{ ...runs[0]!, id: newId(), slot: { scheduledAt: i * 1000, slotStartAt: null } },
  }))
  const open = many.map((run) => run.id)
  await store.backfills.advance(id, backfill.version, { progress: { ...progress, open }, runs: many })
  return id
}
