/** Markers are planted wherever a payload, result, error or log line stands, and then every operation is called by every kind of key: whoever may not see a marker finds it in no byte of any answer, event, log line or audit entry. */
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, type Everytick, everytick } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { publishJobs } from '../../src/scheduler/published-jobs.ts'
import { openAlert } from '../../src/server/alerting/alerts.ts'
import { createServer, type Server } from '../../src/server/app.ts'
import type { Operation } from '../../src/server/operation.ts'
import type { Scope } from '../../src/server/scope.ts'
import { addressOf, STORES, type StoreName } from './stage.ts'

const SECRET = 'MARKER-secret'
const OPEN = 'MARKER-open'
const RESULT = 'MARKER-result'
const DETAIL = 'MARKER-detail'
const SAID = 'MARKER-log'
const MESSAGE = 'MARKER-message'

/** `with`: this process has the job. `without`: only another has published it. `never`: no process ever has. */
const PLACES = ['with', 'without', 'never'] as const
type Place = (typeof PLACES)[number]

const vault = defineJob({
  name: 'vault',
  payload: z.looseObject({}),
  redact: ['secret', 'cards.*.number', 'user.token', 'bag'],
  run: () => {},
})
/** Also in shapes that the paths do not expect, and as names of fields. */
const payloadOf = (n: number) => ({
  ...{ open: `${OPEN}-${n}`, secret: `${SECRET}-${n}`, cards: [{ number: `${SECRET}-${n}` }, `${SECRET}-plain-${n}`] },
  ...{ user: [{ token: `${SECRET}-${n}` }], 'user.token': `${SECRET}-${n}`, bag: { [`${SECRET}-name-${n}`]: n } },
})

interface Stand extends AsyncDisposable {
  readonly app: Everytick
  readonly server: Server
  readonly logged: () => string
  token(scope: Scope, workspace: string | null): Promise<string>
}

async function openStand(store: StoreName, place: Place): Promise<Stand> {
  const { address, end } = await addressOf(store)
  let logged = ''
  const take = (...said: unknown[]): void => {
    logged += `${said.map((each) => inspect(each, { depth: 12 })).join(' ')}\n`
  }
  const logger = { debug: take, info: take, warn: take, error: take }
  const app = everytick({
    store: address,
    logger,
    ...(place === 'with' ? { jobs: [vault] } : { jobs: [], foreignJobs: true }),
  })
  const opened = await coreOf(app).store()
  if (place === 'without') await publishJobs(opened, [vault])
  const server = createServer(app, { backgroundTasks: false, rate: { burst: 1_000_000, perSecond: 1_000_000 } })
  let count = 0
  return {
    ...{ app, server, logged: () => logged },
    async token(scope, workspace) {
      return (await server.parts.keys.create({ name: `k${++count}`, scope, workspace, by: 'test', forMs: null })).token
    },
    async [Symbol.asyncDispose]() {
      await app.stop()
      await end()
    },
  }
}

interface Call {
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

async function send(server: Server, token: string, method: string, { path, body, headers }: Call) {
  const response = await server.fetch(
    new Request(`http://localhost/api/v1${path}`, {
      method,
      headers: {
        ...{ authorization: `Bearer ${token}`, host: 'localhost', ...headers },
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  return { status: response.status, text: await response.text() }
}

interface Seeds {
  readonly key: string
  readonly schedule: string
  readonly failed: string
  readonly succeeded: string
  readonly pending: string
  readonly leased: { readonly id: string; readonly fence: number }
  readonly backfill: string
  readonly operation: string
  readonly alert: string
}

let many = 0
async function plant({ server }: Stand, admin: string): Promise<Seeds> {
  const { core } = server.parts
  const store = await core.store()
  const mark = ++many
  const [key, queue] = [`marked-${mark}`, `queue-${mark}`]
  const post = async (path: string, body: unknown, headers = {}) => {
    const { status, text } = await send(server, admin, 'POST', { path, body, headers })
    if (status >= 300) throw new Error(`${path}: ${text}`)
    return JSON.parse(text) as { id: string }
  }
  const { id: schedule } = await post('/schedules', {
    ...{ key, workspace: 'a', every: '1h', job: 'vault', queue, payload: payloadOf(1) },
  })
  await send(server, admin, 'PATCH', { path: `/schedules/${schedule}`, body: { payload: payloadOf(2) } })
  const run = async (more: object) =>
    (await post('/runs', { job: 'vault', workspace: 'a', queue, payload: payloadOf(3), ...more })).id
  await run({})
  await run({})
  await run({})
  const { runs } = await store.claims.claim({ workerId: 'w', leaseMs: 600_000, wanted: [{ queue, limit: 3 }] })
  const [failed, succeeded, leased] = runs
  const error = { name: 'Error', message: MESSAGE, stack: `Error: ${MESSAGE}\n at x`, detail: { body: DETAIL } }
  const line = { attempt: 1, at: 0, level: 'info', message: SAID, data: { said: SAID } } as const
  await store.logs.append(runs.map(({ id: runId }) => ({ runId, ...line })))
  const ended = (of: (typeof runs)[number], verdict: object) =>
    ({ id: of.id, fence: of.fence, claimId: of.claimId, workerId: 'w', verdict }) as never
  const verdicts = [
    ended(failed!, { kind: 'final', state: 'failed', error }),
    ended(succeeded!, { kind: 'final', state: 'succeeded', result: { answer: RESULT } }),
  ]
  await store.claims.settle(verdicts)
  // What comes too late stays whole in the journal.
  await store.claims.settle([ended(succeeded!, { kind: 'final', state: 'succeeded', result: { answer: RESULT } })])
  await store.claims.settle([ended(failed!, { kind: 'final', state: 'failed', error })])
  const { id: pending } = await post(
    `/schedules/${schedule}/trigger`,
    { payload: payloadOf(4) },
    { 'idempotency-key': `plant-${mark}` },
  )
  const span = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T03:00:00Z', payload: payloadOf(5) }
  const { id: backfill } = await post(`/schedules/${schedule}/backfills`, span)
  const { id: operation } = await post('/operations', {
    action: 'runs.cancel',
    filter: { queue: 'none', workspace: 'a' },
  })
  const values = { job: 'vault', run: failed!.id, error: `Error: ${MESSAGE}` }
  const rule = { ruleId: 'default-run-failed', kind: 'run_failed', severity: 'warning' } as const
  const about = { ...rule, workspace: 'a', subject: key, title: 'x', values, openedAt: 0 } as never
  const { alert } = (await openAlert(store.documents, about, core.newId))!
  return {
    ...{ key, schedule, failed: failed!.id, succeeded: succeeded!.id, pending, backfill, operation, alert: alert.id },
    leased: { id: leased!.id, fence: leased!.fence },
  }
}

const INCLUDED = 'include=payload,result'
const timing = { every: '1h', job: 'vault' }
const get = (...paths: string[]): Call[] => paths.map((path) => ({ path }))
const on = (paths: readonly string[], body: unknown): Call[] => paths.map((path) => ({ path, body }))
const runsOf = ({ failed, succeeded, pending }: Seeds): string[] => [failed, succeeded, pending]
const CHANNEL = { name: 'ops', workspace: 'a', config: { kind: 'log' } }
const later = { key: 'later', workspace: 'a', payload: payloadOf(7) }
const NO_ID = '00000000-0000-7000-8000-000000000000'

/** Of every operation the requests that come closest to what was planted; an operation without an entry fails. */
const CALLS: Readonly<Record<string, (seeds: Seeds) => readonly Call[]>> = {
  listSchedules: () => get('/schedules?workspace=a&limit=200', '/schedules?workspace=a&include=payload&last=5'),
  createSchedule: ({ key }) => [
    { path: '/schedules', body: { ...timing, ...later, key: `${key}-new` }, headers: { 'idempotency-key': key } },
    { path: '/schedules', body: { ...timing, ...later, key: `${key}-new` }, headers: { 'idempotency-key': key } },
    { path: '/schedules', body: { ...timing, ...later, key, retry: 'x' } },
  ],
  putSchedule: ({ key }) => on([`/schedules/by-key/a/${key}-put`], { ...timing, payload: payloadOf(8) }),
  getScheduleByKey: ({ key }) => get(`/schedules/by-key/a/${key}`, `/schedules/by-key/a/${key}x`),
  getSchedule: ({ schedule }) => get(`/schedules/${schedule}`),
  patchSchedule: ({ schedule }) => [
    { path: `/schedules/${schedule}`, body: { payload: payloadOf(9) } },
    { path: `/schedules/${schedule}`, body: { job: 'other' } },
    { path: `/schedules/${schedule}`, body: { tags: ['x'] } },
  ],
  deleteSchedule: ({ schedule }) => get(`/schedules/${schedule}`),
  pauseSchedule: ({ schedule }) => on([`/schedules/${schedule}/pause`], { reason: 'x' }),
  resumeSchedule: ({ schedule }) => on([`/schedules/${schedule}/resume`], {}),
  triggerSchedule: ({ schedule, key }) => [
    { path: `/schedules/${schedule}/trigger`, body: {}, headers: { 'idempotency-key': `${key}-t` } },
    { path: `/schedules/${schedule}/trigger`, body: { payload: payloadOf(10) } },
  ],
  createBackfill: ({ schedule }) =>
    on([`/schedules/${schedule}/backfills`], {
      ...{ from: '2026-01-02T00:00:00Z', to: '2026-01-02T02:00:00Z', payload: payloadOf(11), dryRun: true },
    }),
  listBackfills: ({ schedule }) => get(`/schedules/${schedule}/backfills`),
  nextOccurrences: ({ schedule }) => get(`/schedules/${schedule}/next`),
  whySchedule: ({ schedule }) => get(`/schedules/${schedule}/why?at=2026-01-01T00:00:00Z`),
  listRevisions: ({ schedule }) =>
    get(`/schedules/${schedule}/revisions`, `/schedules/${schedule}/revisions?include=payload`),
  listRuns: () =>
    get('/runs?workspace=a&limit=200', `/runs?workspace=a&limit=200&${INCLUDED}`, `/runs?status=failed&${INCLUDED}`),
  listExecutions: ({ schedule }) => get(`/schedules/${schedule}/executions?status=pending&${INCLUDED}`),
  enqueueRun: ({ key }) => [
    {
      path: '/runs',
      body: { job: 'vault', workspace: 'a', payload: payloadOf(12) },
      headers: { 'idempotency-key': `${key}-e` },
    },
    {
      path: '/runs',
      body: { job: 'vault', workspace: 'a', payload: payloadOf(12) },
      headers: { 'idempotency-key': `${key}-e` },
    },
    { path: '/runs', body: { job: 'vault', workspace: 'a', payload: payloadOf(12), priority: 99 } },
  ],
  getRun: (seeds) => get(...runsOf(seeds).map((id) => `/runs/${id}`)),
  listAttempts: (seeds) =>
    get(...runsOf(seeds).flatMap((id) => [`/runs/${id}/attempts`, `/runs/${id}/attempts?include=result`])),
  readLogs: (seeds) => get(...runsOf(seeds).map((id) => `/runs/${id}/logs`)),
  cancelRun: ({ pending, succeeded }) => get(`/runs/${pending}/cancel`, `/runs/${succeeded}/cancel`),
  retryRun: ({ failed }) => get(`/runs/${failed}/retry`, `/runs/${failed}/retry`),
  completeRun: ({ leased: { id, fence }, succeeded }) => [
    { path: `/runs/${succeeded}/complete`, body: { fence, outcome: 'succeeded', result: 1 } },
    { path: `/runs/${id}/complete`, body: { fence, outcome: 'succeeded', result: { answer: RESULT } } },
  ],
  deleteRun: ({ succeeded }) => get(`/runs/${succeeded}`),
  overview: () => get('/overview', '/overview?workspace=a'),
  listAllBackfills: () => get('/backfills?workspace=a'),
  getBackfill: ({ backfill }) => get(`/backfills/${backfill}`),
  cancelBackfill: ({ backfill }) => get(`/backfills/${backfill}/cancel`),
  listQueues: () => get('/queues'),
  pauseQueue: () => on(['/queues/idle/pause'], { reason: 'x' }),
  resumeQueue: () => get('/queues/idle/resume'),
  limitQueue: () => on(['/queues/idle/limits'], { globalConcurrency: 1 }),
  listWorkers: () => get('/workers'),
  drainWorker: () => get('/workers/none/drain'),
  listJobs: () => get('/jobs'),
  listLocks: () => get('/locks'),
  releaseLock: () => on(['/locks/none/release'], {}),
  explainTiming: () => on(['/explain'], { cron: '0 * * * *' }),
  previewSchedules: ({ key }) => [
    { path: '/preview', body: { schedules: [{ ...timing, key, workspace: 'a', payload: payloadOf(13) }] } },
    { path: '/preview', body: { schedules: [{ ...timing, key, workspace: 'a' }] } },
    {
      path: '/preview',
      body: { schedules: [{ ...timing, key, workspace: 'a', job: 'other', payload: payloadOf(2) }] },
    },
    {
      path: '/preview',
      body: { schedules: [{ ...timing, key: `${key}-not-yet`, workspace: 'a', payload: payloadOf(14) }] },
    },
  ],
  simulateSchedule: () =>
    on(['/simulate'], { cron: '0 * * * *', from: '2027-01-01T00:00:00Z', to: '2027-01-02T00:00:00Z' }),
  readForecast: () => get('/forecast?bucket=1h&workspace=a'),
  readSpikes: () => get('/forecast/spikes?workspace=a'),
  readClockChanges: () => get('/forecast/clock-changes?workspace=a'),
  readLedger: ({ key }) => get(`/ledger?workspace=a&schedule=${key}`),
  // Is read while all others are called.
  followEvents: () => [],
  createOperation: () => on(['/operations'], { action: 'runs.cancel', filter: { queue: 'none', workspace: 'a' } }),
  listOperations: () => get('/operations'),
  getOperation: ({ operation }) => get(`/operations/${operation}`),
  cancelOperation: ({ operation }) => get(`/operations/${operation}/cancel`),
  listAlerts: () => get('/alerts?workspace=a'),
  getAlert: ({ alert }) => get(`/alerts/${alert}`),
  acknowledgeAlert: ({ alert }) => get(`/alerts/${alert}/acknowledge`),
  muteAlert: ({ alert }) => on([`/alerts/${alert}/mute`], { for: '1h' }),
  unmuteAlert: ({ alert }) => get(`/alerts/${alert}/unmute`),
  resolveAlert: ({ alert }) => get(`/alerts/${alert}/resolve`),
  listAlertRules: () => get('/alert-rules'),
  createAlertRule: () => on(['/alert-rules'], { kind: 'missed', workspace: 'a' }),
  getAlertRule: () => get('/alert-rules/default-run-failed'),
  putAlertRule: () => on(['/alert-rules/default-missed'], { kind: 'missed', enabled: true }),
  deleteAlertRule: () => get(`/alert-rules/${NO_ID}`),
  listChannels: () => get('/channels'),
  createChannel: () => on(['/channels'], CHANNEL),
  getChannel: () => get(`/channels/${NO_ID}`),
  patchChannel: () => on([`/channels/${NO_ID}`], { enabled: false }),
  deleteChannel: () => get(`/channels/${NO_ID}`),
  testChannel: () => get(`/channels/${NO_ID}/test`),
  listKeys: () => get('/api-keys'),
  createKey: () => on(['/api-keys'], { name: 'x', scope: 'read' }),
  getKey: () => get(`/api-keys/${NO_ID}`),
  revokeKey: () => get(`/api-keys/${NO_ID}`),
  rollKey: () => on([`/api-keys/${NO_ID}/roll`], {}),
  listAudit: () => get('/audit?limit=200', '/audit?limit=200&include=payload'),
  getAuditHead: () => get('/audit/head'),
  listQuotas: () => get('/quotas'),
  verifyAudit: () => get('/audit/verify'),
  signIn: () => on(['/session'], { key: 'wrong' }),
  whoAmI: () => get('/session'),
  signOut: () => get('/session'),
  healthz: () => get('/healthz'),
  readyz: () => get('/readyz'),
  readDoctor: () => get('/doctor'),
  runCleanup: () => on(['/cleanup'], {}),
  getMetrics: () => get('/metrics'),
  openApi: () => get('/openapi.json'),
}

/** Those that take away what others look at come last. */
const LAST: readonly string[] = ['cancelRun', 'retryRun', 'completeRun', 'deleteRun', 'deleteSchedule', 'signOut']
const inOrder = (operations: readonly Operation[]): Operation[] =>
  operations.toSorted((a, b) => LAST.indexOf(a.id) - LAST.indexOf(b.id))

const PRINCIPALS: readonly [Scope, string | null][] = (['read', 'operate', 'admin'] as const).flatMap(
  (scope): [Scope, string | null][] => [
    [scope, null],
    [scope, 'a'],
  ],
)

/** All that comes over a stream of events until the function that it answers is called. */
function listen(server: Server, token: string): { text: () => string; stop: () => void; opened: Promise<void> } {
  let text = ''
  const cut = new AbortController()
  const headers = {
    authorization: `Bearer ${token}`,
    host: 'localhost',
    'last-event-id': `${Date.now() - 60_000}-now-`,
  }
  const request = new Request('http://localhost/api/v1/events', { headers, signal: cut.signal })
  const opened = server.fetch(request).then(async (response) => {
    const decoder = new TextDecoder()
    const reader = response.body!.getReader()
    const read = async (): Promise<void> => {
      for (;;) {
        const { value, done } = await reader.read()
        if (done) return
        text += decoder.decode(value, { stream: true })
      }
    }
    void read().catch(() => {})
  })
  return { text: () => text, stop: () => cut.abort(), opened }
}

describe.each(STORES)('on %s', (store) => {
  describe.each(PLACES)('a server %s the job', (place) => {
    let stand: Stand
    let admin: string
    beforeAll(async () => {
      stand = await openStand(store, place)
      admin = await stand.token('admin', null)
    })
    afterAll(() => stand[Symbol.asyncDispose]())

    it('has an entry for each operation', () => {
      const ids = stand.server.routes.map(({ operation: { id } }) => id)
      expect(Object.keys(CALLS).sort()).toEqual(ids.sort())
    })

    it.each(PRINCIPALS)('shows a key with %s, bound to %s, what it may see and no more', async (scope, workspace) => {
      const token = await stand.token(scope, workspace)
      const events = listen(stand.server, token)
      await events.opened
      const seeds = await plant(stand, admin)
      const seen = new Map<string, string>()
      const faults: string[] = []
      for (const { id, method } of inOrder(stand.server.routes.map(({ operation }) => operation))) {
        for (const call of CALLS[id]!(seeds)) {
          const { status, text } = await send(stand.server, token, method.toUpperCase(), call)
          if (status >= 500) faults.push(`${method} ${call.path}: ${status} ${text}`)
          seen.set(id, `${seen.get(id) ?? ''}\n${text}`)
        }
      }
      expect(faults).toEqual([])
      await expect.poll(events.text, { timeout: 20_000 }).toMatch(/event: run\.failed/)
      seen.set('followEvents', events.text())
      events.stop()
      const showing = (marker: string): string[] =>
        [...seen].filter(([, text]) => text.includes(marker)).map(([id]) => id)

      expect(showing(SECRET)).toEqual([])
      const operates = scope !== 'read'
      if (!operates || place === 'never') expect(showing(OPEN)).toEqual([])
      if (!operates)
        for (const marker of [RESULT, DETAIL, SAID]) expect([marker, showing(marker)]).toEqual([marker, []])
      // It is no test if what may be seen is not there.
      expect(showing(MESSAGE)).toEqual(expect.arrayContaining(['getRun', 'listRuns', 'getAlert', 'followEvents']))
      if (operates) {
        expect(showing(RESULT)).toEqual(expect.arrayContaining(['getRun', 'listRuns', 'listAttempts']))
        expect(showing(DETAIL)).toEqual(expect.arrayContaining(['getRun', 'listAttempts']))
        expect(showing(SAID)).toEqual(['readLogs'])
      }
      if (operates && place !== 'never')
        expect(showing(OPEN)).toEqual(
          expect.arrayContaining([
            'getRun',
            'listRuns',
            'getSchedule',
            'listSchedules',
            'listRevisions',
            'previewSchedules',
          ]),
        )
      if (scope === 'admin' && place !== 'never') expect(showing(OPEN)).toContain('listAudit')
    })

    it('writes none of it into its log, nor what it hides into the audit log and stored answers', async () => {
      const opened = await stand.server.parts.core.store()
      for (const marker of [SECRET, OPEN, RESULT, DETAIL, SAID]) expect(stand.logged()).not.toContain(marker)
      const stored = JSON.stringify([
        await opened.auditLog.list({ limit: 10_000 }),
        await opened.documents.list('request', { limit: 10_000 }),
      ])
      expect(stored).toContain('schedule.create')
      expect(stored).not.toContain(SECRET)
      if (place === 'never') expect(stored).not.toContain(OPEN)
    })
  })
})
