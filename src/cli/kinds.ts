/** The resources that commands select by id: the REST list of each kind, and the fields that distinguish its items. */
import type { Kind, Listing } from './find-id.ts'

interface RunItem {
  readonly id: string
  readonly job: string
  readonly state: string
  readonly dueAt: string
  readonly schedule: { readonly key: string } | null
}
export const RUNS: Listing<RunItem> = {
  noun: 'run',
  path: '/runs',
  list: 'runs ls',
  about: ({ job, state, schedule, dueAt }) => [job, state, schedule?.key ?? null, dueAt],
}

interface OperationItem {
  readonly id: string
  readonly state: string
  readonly work: { readonly action: string }
  readonly createdAt: string
}
export const OPERATIONS: Listing<OperationItem> = {
  noun: 'operation',
  path: '/operations',
  list: 'ops ls',
  about: ({ work, state, createdAt }) => [work.action, state, createdAt],
}

interface BackfillItem {
  readonly id: string
  readonly schedule: string
  readonly state: string
  readonly from: string
  readonly to: string
}
export const BACKFILLS: Listing<BackfillItem> = {
  noun: 'backfill',
  path: '/backfills',
  list: 'backfill ls',
  about: ({ schedule, state, from, to }) => [schedule, state, `${from} to ${to}`],
}

interface AlertItem {
  readonly id: string
  readonly state: string
  readonly title: string
}
export const ALERTS: Listing<AlertItem> = {
  noun: 'alert',
  path: '/alerts',
  list: 'alerts ls --state any',
  about: ({ state, title }) => [state, title],
}

interface ChannelItem {
  readonly id: string
  readonly name: string
  readonly workspace: string | null
}
export const CHANNELS: Listing<ChannelItem> = {
  noun: 'channel',
  path: '/channels',
  list: 'channels ls',
  about: ({ name, workspace }) => [name, workspace],
  nameOf: ({ name }) => name,
}

interface KeyItem {
  readonly id: string
  readonly name: string
  readonly scope: string
  readonly workspace: string | null
  readonly createdAt: string
  readonly revokedAt: string | null
}
export const KEYS: Listing<KeyItem> = {
  noun: 'key',
  path: '/api-keys',
  list: 'keys ls',
  about: ({ name, scope, workspace, createdAt }) => [name, scope, workspace, createdAt],
  nameOf: ({ name }) => name,
  isMeant: ({ revokedAt }) => revokedAt === null,
}

interface RuleItem {
  readonly id: string
  readonly name: string
}
export const ALERT_RULES: Kind<RuleItem> = {
  noun: 'alert rule',
  list: 'alert-rules ls',
  about: ({ name }) => [name],
  nameOf: ({ name }) => name,
}

interface WorkerItem {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly alive: boolean
}
export const WORKERS: Kind<WorkerItem> = {
  noun: 'worker',
  list: 'workers ls',
  about: ({ host, pid, alive }) => [host, String(pid), alive ? 'alive' : 'gone'],
  nameOf: ({ host }) => host,
  isMeant: ({ alive }) => alive,
}
