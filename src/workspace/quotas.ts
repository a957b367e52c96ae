/** Decides which quotas a workspace has and how high each is; who counts what is used, and when, is decided by the scheduler. */
export const QUOTA_NAMES = [
  'schedules',
  'pendingRuns',
  'queues',
  'tags',
  'channels',
  'rules',
  'streams',
  'smallestInterval',
  'payloadBytesPerDay',
] as const

export type QuotaName = (typeof QUOTA_NAMES)[number]

/** Milliseconds for `smallestInterval`, bytes for `payloadBytesPerDay`, and a number of things otherwise. */
export type QuotaUnit = 'count' | 'ms' | 'bytes'

export interface Quota {
  readonly unit: QuotaUnit
  /** For keys that are bound to a workspace, where no option says otherwise. */
  readonly bound: number
  /** What a refusal advises, beside a higher limit. */
  readonly advice: string
}

export const QUOTAS: Readonly<Record<QuotaName, Quota>> = Object.freeze({
  schedules: { unit: 'count', bound: 10_000, advice: 'remove schedules' },
  pendingRuns: { unit: 'count', bound: 100_000, advice: 'wait until runs have ended, or cancel some' },
  queues: { unit: 'count', bound: 100, advice: 'use a queue that the workspace uses already' },
  tags: { unit: 'count', bound: 1000, advice: 'use a tag that the workspace uses already' },
  channels: { unit: 'count', bound: 50, advice: 'delete a channel' },
  rules: { unit: 'count', bound: 100, advice: 'delete a rule' },
  streams: { unit: 'count', bound: 20, advice: 'close a stream' },
  smallestInterval: { unit: 'ms', bound: 1000, advice: 'let the schedule fire less often' },
  payloadBytesPerDay: {
    unit: 'bytes',
    bound: 2 ** 30,
    advice: 'send smaller payloads, or wait for the next day (UTC)',
  },
})

/** Null turns a quota off; an absent quota is as the next wider settings say. */
export type QuotaChoice = Readonly<Partial<Record<QuotaName, number | null>>>

/** The option `quotas`, read. */
export interface QuotaSettings {
  readonly default: QuotaChoice
  readonly workspaces: ReadonlyMap<string, QuotaChoice>
}

/** Quotas in effect; one that is off is absent. */
export type Limits = Readonly<Partial<Record<QuotaName, number>>>

/** `isBound`: the caller's key is bound to the workspace. For every other caller a quota is off unless an option sets it. */
export function limitsOf(
  settings: QuotaSettings | null,
  { workspace, isBound }: { readonly workspace: string; readonly isBound: boolean },
): Limits {
  const [own, shared] = [settings?.workspaces.get(workspace), settings?.default]
  const limits: Partial<Record<QuotaName, number>> = {}
  for (const name of QUOTA_NAMES) {
    const said = own?.[name] !== undefined ? own[name] : shared?.[name]
    const limit = said === undefined && isBound ? QUOTAS[name].bound : said
    if (limit !== undefined && limit !== null) limits[name] = limit
  }
  return limits
}
