/** For every operation of the interface: a request that succeeds, and those that meet a conflict; what every operation has in common is tried without being listed. */
import { openAlert } from '../../src/server/alerting/alerts.ts'
import type { Stage } from './stage.ts'

/** A request, with the status it should be answered with. */
export interface Case {
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly as?: string | null
  readonly status: number
  /** Of the problem, where it is one. */
  readonly code?: string
}

export type Cases = Readonly<Record<string, (stage: Stage) => Promise<{ happy: Case; conflict?: Case }>>>

let count = 0
const fresh = (): string => `case-${++count}`

export async function newSchedule(stage: Stage, workspace = 'a'): Promise<{ id: string; key: string }> {
  const { body } = await stage.ask('POST', '/schedules', {
    body: { key: fresh(), workspace, every: '1h', job: 'plain' },
  })
  return body
}

export async function newRun(stage: Stage, { workspace = 'a', job = 'plain' } = {}): Promise<{ id: string }> {
  const { body } = await stage.ask('POST', '/runs', { body: { job, workspace, delay: '1h' } })
  return body
}

export interface RunningRun {
  readonly id: string
  readonly fence: number
  readonly claimId: string
}

/** A run that a worker holds, with its fence and claim. */
export async function leasedRun(stage: Stage, workspace = 'a'): Promise<RunningRun> {
  const queue = fresh()
  const { body } = await stage.ask('POST', '/runs', { body: { job: 'plain', workspace, queue } })
  const store = await stage.server.parts.core.store()
  const { runs } = await store.claims.claim({ workerId: 'w', leaseMs: 60_000, wanted: [{ queue, limit: 1 }] })
  return { id: body.id, fence: runs[0]!.fence, claimId: runs[0]!.claimId! }
}

export async function failedRun(stage: Stage, workspace = 'a'): Promise<{ id: string }> {
  const { id, fence } = await leasedRun(stage, workspace)
  await stage.ask('POST', `/runs/${id}/complete`, { body: { fence, outcome: 'failed', retry: false } })
  return { id }
}

const happy = (path: string, status = 200, more: Partial<Case> = {}): { happy: Case } => ({
  happy: { path, status, ...more },
})

export const CASES: Cases = {
  listSchedules: async (stage) => {
    await newSchedule(stage)
    return happy('/schedules?workspace=a&enabled=true&last=5&limit=5')
  },
  createSchedule: async (stage) => {
    const { key } = await newSchedule(stage)
    return {
      happy: {
        path: '/schedules',
        body: { key: fresh(), cron: '30 2 * * *', timezone: 'Europe/Berlin', job: 'plain' },
        status: 201,
      },
      conflict: {
        path: '/schedules',
        body: { key, workspace: 'a', every: '2h', job: 'plain' },
        status: 409,
        code: 'SCHEDULE_EXISTS',
      },
    }
  },
  putSchedule: async () => happy(`/schedules/by-key/a/${fresh()}`, 201, { body: { every: '5m', job: 'plain' } }),
  getScheduleByKey: async (stage) => happy(`/schedules/by-key/a/${(await newSchedule(stage)).key}`),
  getSchedule: async (stage) => happy(`/schedules/${(await newSchedule(stage)).id}`),
  patchSchedule: async (stage) => {
    const { id } = await newSchedule(stage)
    const path = `/schedules/${id}`
    return {
      happy: { path, body: { every: '2h', tags: ['x'] }, headers: { 'if-match': '"1"' }, status: 200 },
      conflict: {
        path,
        body: { every: '3h' },
        headers: { 'if-match': '"1"' },
        status: 412,
        code: 'PRECONDITION_FAILED',
      },
    }
  },
  deleteSchedule: async (stage) => {
    const { id } = await newSchedule(stage)
    const other = await newSchedule(stage)
    return {
      happy: { path: `/schedules/${id}`, status: 204 },
      conflict: {
        path: `/schedules/${other.id}`,
        headers: { 'if-match': '"9"' },
        status: 412,
        code: 'PRECONDITION_FAILED',
      },
    }
  },
  pauseSchedule: async (stage) =>
    happy(`/schedules/${(await newSchedule(stage)).id}/pause`, 200, { body: { reason: 'lunch' } }),
  resumeSchedule: async (stage) => happy(`/schedules/${(await newSchedule(stage)).id}/resume`, 200, { body: {} }),
  triggerSchedule: async (stage) => happy(`/schedules/${(await newSchedule(stage)).id}/trigger`, 202, { body: {} }),
  createBackfill: async (stage) => {
    const body = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T03:00:00Z' }
    return happy(`/schedules/${(await newSchedule(stage)).id}/backfills`, 202, { body })
  },
  listBackfills: async (stage) => happy(`/schedules/${(await newSchedule(stage)).id}/backfills`),
  nextOccurrences: async (stage) =>
    happy(`/schedules/${(await newSchedule(stage)).id}/next?n=3&from=2027-01-01T00:00:00Z`),
  whySchedule: async (stage) => happy(`/schedules/${(await newSchedule(stage)).id}/why?at=2026-01-01T00:00:00Z`),
  listRevisions: async (stage) => happy(`/schedules/${(await newSchedule(stage)).id}/revisions`),
  listExecutions: async (stage) =>
    happy(`/schedules/${(await newSchedule(stage)).id}/executions?status=failed,succeeded`),
  listRuns: async (stage) => {
    await newRun(stage)
    return happy('/runs?workspace=a&status=pending&limit=2')
  },
  enqueueRun: async (stage) => {
    const idempotencyKey = fresh()
    await stage.ask('POST', '/runs', { body: { job: 'plain', workspace: 'a', idempotencyKey, delay: '1h' } })
    return happy('/runs', 201, { body: { job: 'typed', payload: { account: 'a' }, delay: '1h' } })
  },
  getRun: async (stage) => happy(`/runs/${(await newRun(stage)).id}`),
  listAttempts: async (stage) => happy(`/runs/${(await newRun(stage)).id}/attempts`),
  readLogs: async (stage) => happy(`/runs/${(await newRun(stage)).id}/logs?after=0&limit=10`),
  cancelRun: async (stage) => happy(`/runs/${(await newRun(stage)).id}/cancel`),
  retryRun: async (stage) => {
    const { id } = await failedRun(stage)
    const other = await newRun(stage)
    return {
      happy: { path: `/runs/${id}/retry`, status: 200 },
      conflict: { path: `/runs/${other.id}/retry`, status: 409, code: 'RUN_NOT_FAILED' },
    }
  },
  deleteRun: async (stage) => {
    const { id } = await failedRun(stage)
    const other = await newRun(stage)
    return {
      happy: { path: `/runs/${id}`, status: 204 },
      conflict: { path: `/runs/${other.id}`, status: 409, code: 'RUN_NOT_FINISHED' },
    }
  },
  completeRun: async (stage) => {
    const { id, fence } = await leasedRun(stage)
    const path = `/runs/${id}/complete`
    return {
      happy: { path, body: { fence, outcome: 'succeeded', result: { sent: 3 } }, status: 200 },
      conflict: { path, body: { fence, outcome: 'failed' }, status: 409, code: 'LEASE_LOST' },
    }
  },
  listAllBackfills: async (stage) => happy(`/backfills?id=${(await newBackfill(stage)).slice(0, 8)}&workspace=a`),
  getBackfill: async (stage) => happy(`/backfills/${await newBackfill(stage)}`),
  cancelBackfill: async (stage) => happy(`/backfills/${await newBackfill(stage)}/cancel`),
  listQueues: async () => happy('/queues'),
  pauseQueue: async () => happy(`/queues/${fresh()}/pause`, 200, { body: { reason: 'rest' } }),
  resumeQueue: async () => happy(`/queues/${fresh()}/resume`),
  limitQueue: async () => {
    const body = { globalConcurrency: 5, rateLimit: { limit: 10, per: '1m' } }
    return happy(`/queues/${fresh()}/limits`, 200, { body })
  },
  listWorkers: async (stage) => {
    await newWorker(stage)
    return happy('/workers')
  },
  drainWorker: async (stage) => happy(`/workers/${await newWorker(stage)}/drain`, 202),
  listJobs: async () => happy('/jobs'),
  listLocks: async () => happy('/locks'),
  listQuotas: async () => happy('/quotas'),
  runCleanup: async (stage) => {
    await stage.ask('POST', '/runs', { body: { job: 'plain', delay: '1h', idempotencyKey: fresh() } })
    return happy('/cleanup', 200, { body: { retention: { idempotency: '0ms' } } })
  },
  releaseLock: async (stage) => {
    const name = fresh()
    const { locks } = await stage.server.parts.core.store()
    const lock = await locks.acquire(`user:${name}`, 'app-1 call-1', 60_000)
    return {
      happy: { path: `/locks/${name}/release`, status: 200, body: { fence: lock!.fence } },
      conflict: { path: '/locks/none/release', status: 404, code: 'LOCK_NOT_FOUND' },
    }
  },
  explainTiming: async () =>
    happy('/explain', 200, { body: { cron: '30 2 * * *', timezone: 'Europe/Berlin', jitter: '5m' } }),
  followEvents: async () => happy('/events?types=run.*', 200),
  createOperation: async () => {
    const body = { action: 'schedules.pause', filter: { workspace: 'a', tag: 'none-has-it' }, reason: 'quiet' }
    return happy('/operations', 202, { body })
  },
  listOperations: async (stage) => {
    await newOperation(stage)
    return happy('/operations?state=running')
  },
  getOperation: async (stage) => happy(`/operations/${await newOperation(stage)}`),
  cancelOperation: async (stage) => happy(`/operations/${await newOperation(stage)}/cancel`),
  listAlerts: async (stage) => {
    await newAlert(stage)
    return happy('/alerts?state=open&workspace=a&limit=2')
  },
  getAlert: async (stage) => happy(`/alerts/${await newAlert(stage)}`),
  acknowledgeAlert: async (stage) => {
    const over = await newAlert(stage)
    await stage.ask('POST', `/alerts/${over}/resolve`)
    return {
      happy: { path: `/alerts/${await newAlert(stage)}/acknowledge`, status: 200 },
      conflict: { path: `/alerts/${over}/acknowledge`, status: 409, code: 'NOT_ACCEPTABLE_STATE' },
    }
  },
  muteAlert: async (stage) => {
    const over = await newAlert(stage)
    await stage.ask('POST', `/alerts/${over}/resolve`)
    const body = { for: '1h' }
    return {
      happy: { path: `/alerts/${await newAlert(stage)}/mute`, body, status: 200 },
      conflict: { path: `/alerts/${over}/mute`, body, status: 409, code: 'NOT_ACCEPTABLE_STATE' },
    }
  },
  unmuteAlert: async (stage) => {
    const over = await newAlert(stage)
    await stage.ask('POST', `/alerts/${over}/resolve`)
    const quiet = await newAlert(stage)
    await stage.ask('POST', `/alerts/${quiet}/mute`, { body: { for: '1h' } })
    return {
      happy: { path: `/alerts/${quiet}/unmute`, status: 200 },
      conflict: { path: `/alerts/${over}/unmute`, status: 409, code: 'NOT_ACCEPTABLE_STATE' },
    }
  },
  resolveAlert: async (stage) => happy(`/alerts/${await newAlert(stage)}/resolve`),
  listAlertRules: async () => happy('/alert-rules'),
  createAlertRule: async () => happy('/alert-rules', 201, { body: { kind: 'missed', workspace: 'a' } }),
  getAlertRule: async (stage) => happy(`/alert-rules/${await newAlertRule(stage)}`),
  putAlertRule: async (stage) =>
    happy(`/alert-rules/${await newAlertRule(stage)}`, 200, { body: { kind: 'missed', enabled: false } }),
  deleteAlertRule: async (stage) => happy(`/alert-rules/${await newAlertRule(stage)}`, 204),
  listChannels: async (stage) => {
    await newChannel(stage)
    return happy('/channels?limit=2')
  },
  createChannel: async () => happy('/channels', 201, { body: CHANNEL }),
  getChannel: async (stage) => happy(`/channels/${await newChannel(stage)}`),
  patchChannel: async (stage) => happy(`/channels/${await newChannel(stage)}`, 200, { body: { enabled: false } }),
  deleteChannel: async (stage) => {
    const named = await newChannel(stage)
    await stage.ask('POST', '/alert-rules', { body: { kind: 'missed', channels: [named] } })
    return {
      happy: { path: `/channels/${await newChannel(stage)}`, status: 204 },
      conflict: { path: `/channels/${named}`, status: 409, code: 'NOT_ACCEPTABLE_STATE' },
    }
  },
  testChannel: async (stage) => happy(`/channels/${await newChannel(stage)}/test`),
  listKeys: async () => happy('/api-keys?limit=3'),
  createKey: async () => happy('/api-keys', 201, { body: { name: fresh(), scope: 'read', expiresIn: '1h' } }),
  getKey: async (stage) => happy(`/api-keys/${await newKey(stage)}`),
  revokeKey: async (stage) => happy(`/api-keys/${await newKey(stage)}`, 204),
  rollKey: async (stage) => {
    const [id, revoked] = [await newKey(stage), await newKey(stage)]
    await stage.ask('DELETE', `/api-keys/${revoked}`)
    return {
      happy: { path: `/api-keys/${id}/roll`, body: {}, status: 201 },
      conflict: { path: `/api-keys/${revoked}/roll`, body: {}, status: 409, code: 'NOT_ACCEPTABLE_STATE' },
    }
  },
  listAudit: async () => happy('/audit?limit=2'),
  getAuditHead: async () => happy('/audit/head'),
  verifyAudit: async () => happy(`/audit/verify?expect=${'0'.repeat(64)}`),
  signIn: async (stage) => happy('/session', 200, { body: { key: stage.tokens.read }, as: null }),
  whoAmI: async () => happy('/session'),
  signOut: async () => happy('/session', 204),
  overview: async (stage) => {
    await newRun(stage)
    return happy('/overview?workspace=a')
  },
  healthz: async () => happy('/healthz'),
  readyz: async () => happy('/readyz'),
  readDoctor: async () => happy('/doctor'),
  previewSchedules: async () =>
    happy('/preview', 200, { body: { schedules: [{ key: fresh(), every: '5m', job: 'plain' }] } }),
  readForecast: async () => happy('/forecast?bucket=1h'),
  readSpikes: async () => happy('/forecast/spikes'),
  readClockChanges: async () => happy('/forecast/clock-changes'),
  readLedger: async (stage) => happy(`/ledger?workspace=a&schedule=${(await newSchedule(stage)).key}`),
  simulateSchedule: async () =>
    happy('/simulate', 200, { body: { cron: '0 * * * *', from: '2027-01-01T00:00:00Z', to: '2027-01-02T00:00:00Z' } }),
  getMetrics: async () => happy('/metrics'),
  openApi: async () => happy('/openapi.json'),
}

async function newBackfill(stage: Stage): Promise<string> {
  const { id } = await newSchedule(stage)
  const body = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T03:00:00Z' }
  return (await stage.ask('POST', `/schedules/${id}/backfills`, { body })).body.id
}

async function newWorker(stage: Stage): Promise<string> {
  const id = fresh()
  const store = await stage.server.parts.core.store()
  const worker = { id, host: 'h', pid: 1, roles: ['worker'] as const, queues: { default: 1 }, tzdata: '2026a', busy: 0 }
  await store.workers.reportPresence(worker)
  return id
}

async function newKey(stage: Stage): Promise<string> {
  return (await stage.ask('POST', '/api-keys', { body: { name: fresh(), scope: 'read' } })).body.id
}

export async function newOperation(stage: Stage, as = 'admin'): Promise<string> {
  const body = { action: 'runs.cancel', filter: { queue: 'none' } }
  return (await stage.ask('POST', '/operations', { body, as })).body.id
}

/** Leads to an address that is not public, so that nothing is sent. */
const CHANNEL = {
  name: 'ops',
  workspace: 'a',
  config: {
    kind: 'webhook',
    url: 'http://127.0.0.1:9/',
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  },
}

async function newChannel(stage: Stage): Promise<string> {
  return (await stage.ask('POST', '/channels', { body: CHANNEL })).body.id
}

async function newAlertRule(stage: Stage): Promise<string> {
  return (await stage.ask('POST', '/alert-rules', { body: { kind: 'missed', workspace: 'a' } })).body.id
}

export async function newAlert(stage: Stage, workspace = 'a'): Promise<string> {
  const { core } = stage.server.parts
  const { documents } = await core.store()
  const rule = { ruleId: 'default-schedule-not-fired', kind: 'schedule_not_fired', severity: 'critical' } as const
  const alert = { ...rule, workspace, subject: `schedule ${fresh()}`, title: 'x', values: {}, openedAt: 0 }
  return (await openAlert(documents, alert, core.newId))!.alert.id
}
