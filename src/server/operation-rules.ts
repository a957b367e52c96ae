/** One row per operation: scope, reach, cost, whether it shows payloads, and its quotas. Dispatch enforces the rows. */
import type { QuotaName } from '../workspace/quotas.ts'
import type { Operation } from './operation.ts'

/**
 * The cost of an operation. `probe`: none. `read`: one row. `list`: a page. `write`: a transaction. `search`: a search for occurrences,
 * with a budget. `scan`: reads many rows. `stream`: stays open.
 */
export type Cost = 'probe' | 'read' | 'list' | 'write' | 'search' | 'scan' | 'stream'

export interface OperationRule {
  readonly scope: Operation['scope']
  readonly reach: Operation['reach']
  readonly cost: Cost
  /** `payload`: responses may contain payloads, results, errors or differences, which `shown.ts` must release; `refuse-unreleased.ts` enforces this. */
  readonly shows: 'nothing' | 'payload'
  readonly quotas: readonly QuotaName[]
}

export const OPERATION_RULES = {
  listSchedules: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  createSchedule: {
    scope: 'operate',
    reach: 'workspace',
    cost: 'write',
    shows: 'payload',
    quotas: ['schedules', 'queues', 'tags', 'smallestInterval', 'payloadBytesPerDay'],
  },
  putSchedule: {
    scope: 'operate',
    reach: 'workspace',
    cost: 'write',
    shows: 'payload',
    quotas: ['schedules', 'queues', 'tags', 'smallestInterval', 'payloadBytesPerDay'],
  },
  getScheduleByKey: { scope: 'read', reach: 'workspace', cost: 'read', shows: 'payload', quotas: [] },
  getSchedule: { scope: 'read', reach: 'workspace', cost: 'read', shows: 'payload', quotas: [] },
  patchSchedule: {
    scope: 'operate',
    reach: 'workspace',
    cost: 'write',
    shows: 'payload',
    quotas: ['queues', 'tags', 'smallestInterval', 'payloadBytesPerDay'],
  },
  deleteSchedule: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  pauseSchedule: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  resumeSchedule: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  triggerSchedule: {
    scope: 'operate',
    reach: 'workspace',
    cost: 'write',
    shows: 'payload',
    quotas: ['pendingRuns', 'payloadBytesPerDay'],
  },
  createBackfill: {
    scope: 'operate',
    reach: 'workspace',
    cost: 'search',
    shows: 'payload',
    quotas: ['pendingRuns', 'payloadBytesPerDay'],
  },
  listBackfills: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  nextOccurrences: { scope: 'read', reach: 'workspace', cost: 'search', shows: 'nothing', quotas: [] },
  whySchedule: { scope: 'read', reach: 'workspace', cost: 'search', shows: 'payload', quotas: [] },
  listRevisions: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  listRuns: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  listExecutions: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  enqueueRun: {
    scope: 'operate',
    reach: 'workspace',
    cost: 'write',
    shows: 'payload',
    quotas: ['pendingRuns', 'queues', 'payloadBytesPerDay'],
  },
  getRun: { scope: 'read', reach: 'workspace', cost: 'read', shows: 'payload', quotas: [] },
  listAttempts: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  readLogs: { scope: 'operate', reach: 'workspace', cost: 'stream', shows: 'payload', quotas: ['streams'] },
  cancelRun: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  retryRun: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: ['pendingRuns'] },
  deleteRun: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'nothing', quotas: [] },
  completeRun: {
    scope: 'operate',
    reach: 'workspace',
    cost: 'write',
    shows: 'payload',
    quotas: ['payloadBytesPerDay'],
  },
  overview: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  listAllBackfills: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  getBackfill: { scope: 'read', reach: 'workspace', cost: 'read', shows: 'payload', quotas: [] },
  cancelBackfill: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  listQueues: { scope: 'read', reach: 'fleet', cost: 'list', shows: 'nothing', quotas: [] },
  pauseQueue: { scope: 'operate', reach: 'fleet', cost: 'write', shows: 'nothing', quotas: [] },
  resumeQueue: { scope: 'operate', reach: 'fleet', cost: 'write', shows: 'nothing', quotas: [] },
  limitQueue: { scope: 'operate', reach: 'fleet', cost: 'write', shows: 'nothing', quotas: [] },
  listWorkers: { scope: 'read', reach: 'fleet', cost: 'list', shows: 'nothing', quotas: [] },
  drainWorker: { scope: 'operate', reach: 'fleet', cost: 'write', shows: 'nothing', quotas: [] },
  listJobs: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'nothing', quotas: [] },
  listLocks: { scope: 'read', reach: 'fleet', cost: 'list', shows: 'nothing', quotas: [] },
  releaseLock: { scope: 'admin', reach: 'fleet', cost: 'write', shows: 'nothing', quotas: [] },
  listQuotas: { scope: 'read', reach: 'workspace', cost: 'scan', shows: 'nothing', quotas: [] },
  explainTiming: { scope: 'read', reach: 'workspace', cost: 'search', shows: 'nothing', quotas: [] },
  previewSchedules: { scope: 'operate', reach: 'workspace', cost: 'search', shows: 'payload', quotas: [] },
  simulateSchedule: { scope: 'read', reach: 'workspace', cost: 'search', shows: 'nothing', quotas: [] },
  readForecast: { scope: 'read', reach: 'workspace', cost: 'scan', shows: 'nothing', quotas: [] },
  readSpikes: { scope: 'read', reach: 'workspace', cost: 'scan', shows: 'nothing', quotas: [] },
  readClockChanges: { scope: 'read', reach: 'workspace', cost: 'scan', shows: 'nothing', quotas: [] },
  readLedger: { scope: 'read', reach: 'workspace', cost: 'scan', shows: 'payload', quotas: [] },
  followEvents: { scope: 'read', reach: 'workspace', cost: 'stream', shows: 'payload', quotas: ['streams'] },
  createOperation: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: ['pendingRuns'] },
  listOperations: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  getOperation: { scope: 'read', reach: 'workspace', cost: 'read', shows: 'payload', quotas: [] },
  cancelOperation: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  listAlerts: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  getAlert: { scope: 'read', reach: 'workspace', cost: 'read', shows: 'payload', quotas: [] },
  acknowledgeAlert: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  muteAlert: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  unmuteAlert: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  resolveAlert: { scope: 'operate', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  listAlertRules: { scope: 'read', reach: 'workspace', cost: 'list', shows: 'nothing', quotas: [] },
  createAlertRule: { scope: 'admin', reach: 'workspace', cost: 'write', shows: 'nothing', quotas: ['rules'] },
  getAlertRule: { scope: 'read', reach: 'workspace', cost: 'read', shows: 'nothing', quotas: [] },
  putAlertRule: { scope: 'admin', reach: 'workspace', cost: 'write', shows: 'nothing', quotas: [] },
  deleteAlertRule: { scope: 'admin', reach: 'workspace', cost: 'write', shows: 'nothing', quotas: [] },
  listChannels: { scope: 'admin', reach: 'workspace', cost: 'list', shows: 'nothing', quotas: [] },
  createChannel: { scope: 'admin', reach: 'workspace', cost: 'write', shows: 'nothing', quotas: ['channels'] },
  getChannel: { scope: 'admin', reach: 'workspace', cost: 'read', shows: 'nothing', quotas: [] },
  patchChannel: { scope: 'admin', reach: 'workspace', cost: 'write', shows: 'nothing', quotas: [] },
  deleteChannel: { scope: 'admin', reach: 'workspace', cost: 'write', shows: 'nothing', quotas: [] },
  testChannel: { scope: 'admin', reach: 'workspace', cost: 'write', shows: 'payload', quotas: [] },
  listKeys: { scope: 'admin', reach: 'fleet', cost: 'list', shows: 'nothing', quotas: [] },
  createKey: { scope: 'admin', reach: 'fleet', cost: 'write', shows: 'nothing', quotas: [] },
  getKey: { scope: 'admin', reach: 'fleet', cost: 'read', shows: 'nothing', quotas: [] },
  revokeKey: { scope: 'admin', reach: 'fleet', cost: 'write', shows: 'nothing', quotas: [] },
  rollKey: { scope: 'admin', reach: 'fleet', cost: 'write', shows: 'nothing', quotas: [] },
  listAudit: { scope: 'admin', reach: 'workspace', cost: 'list', shows: 'payload', quotas: [] },
  getAuditHead: { scope: 'read', reach: 'fleet', cost: 'read', shows: 'nothing', quotas: [] },
  verifyAudit: { scope: 'admin', reach: 'fleet', cost: 'scan', shows: 'nothing', quotas: [] },
  signIn: { scope: 'none', reach: 'workspace', cost: 'write', shows: 'nothing', quotas: [] },
  whoAmI: { scope: 'read', reach: 'workspace', cost: 'read', shows: 'nothing', quotas: [] },
  signOut: { scope: 'none', reach: 'workspace', cost: 'write', shows: 'nothing', quotas: [] },
  healthz: { scope: 'none', reach: 'workspace', cost: 'probe', shows: 'nothing', quotas: [] },
  readyz: { scope: 'none', reach: 'workspace', cost: 'probe', shows: 'nothing', quotas: [] },
  readDoctor: { scope: 'admin', reach: 'fleet', cost: 'scan', shows: 'payload', quotas: [] },
  runCleanup: { scope: 'admin', reach: 'fleet', cost: 'scan', shows: 'nothing', quotas: [] },
  getMetrics: { scope: 'read', reach: 'fleet', cost: 'scan', shows: 'nothing', quotas: [] },
  openApi: { scope: 'read', reach: 'workspace', cost: 'read', shows: 'nothing', quotas: [] },
} as const satisfies Record<string, OperationRule>

/** The search budget of one request, in steps. */
const SEARCH_STEPS: Readonly<Record<Cost, number>> = {
  probe: 0,
  read: 20_000,
  list: 20_000,
  write: 20_000,
  search: 200_000,
  scan: 200_000,
  stream: 0,
}

/** The row of an operation. A server with a missing row does not start. */
export function ruleOf(operation: Pick<Operation, 'id'>): OperationRule {
  const rule = (OPERATION_RULES as Readonly<Record<string, OperationRule>>)[operation.id]
  if (!rule) throw new Error(`operation ${operation.id} has no row in operation-rules.ts`)
  return rule
}

export const searchStepsOf = (operation: Pick<Operation, 'id'>): number => SEARCH_STEPS[ruleOf(operation).cost]
