/** Which kinds of alert rules there are, what can be set about each, and the rules that hold without anybody writing them; when a rule applies is `alert-condition.ts`. */

/** What each kind can be told; durations are milliseconds here and text for people. */
export interface RuleSettings {
  /** A cursor, or a run that is due, has stood still for longer than this. */
  readonly schedule_not_fired: { readonly graceMs: number }
  /** For each schedule, and for each job of runs without one, until it succeeds again. */
  readonly run_failed: Record<never, never>
  readonly failed_in_a_row: { readonly count: number }
  /** No success although so many occurrences have come due since the last one, and for at least so long. */
  readonly no_success: { readonly periods: number; readonly atLeastMs: number }
  readonly failure_rate: Window & Part & { readonly share: number; readonly minimum: number }
  /**
   * `factor` times the p95 of its job, once so many of them are known, or this share of its timeout; without a timeout also
   * `untimedFactor` times what its schedule usually takes, or its job where it has no schedule.
   */
  readonly run_too_long: {
    readonly factor: number
    readonly timeoutShare: number
    readonly minimum: number
    readonly atLeastMs: number
    readonly untimedFactor: number
  }
  readonly missed: Window
  readonly double_fire: Window
  readonly queue_age: { readonly ageMs: number }
  /** More runs than this are due in a queue, and the oldest of them has waited for so long. */
  readonly queue_depth: { readonly depth: number; readonly forMs: number }
  readonly no_worker: { readonly forMs: number }
  readonly lateness_p99: Window & Part & { readonly limitMs: number; readonly minimum: number }
  readonly clock_skew: { readonly limitMs: number }
  readonly planner_stalled: { readonly afterMs: number }
  readonly schedule_quarantined: Record<never, never>
  readonly leadership_flapping: Window & { readonly changes: number }
  readonly dead_letter_growth: Window & Part & { readonly count: number }
  /** Rows that no process takes further have been there for so long. */
  readonly orphaned_rows: { readonly forMs: number }
  readonly cleanup_failing: { readonly afterMs: number }
  /** The database failed over within the window, and writes that were acknowledged before may be missing. */
  readonly store_failed_over: Window
}

interface Window {
  readonly windowMs: number
}

/** Only the runs of one job or of one queue; all when both are absent. */
interface Part {
  readonly job?: string
  readonly queue?: string
}

export type RuleKind = keyof RuleSettings

export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

export interface RuleOf<Kind extends RuleKind> {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  readonly enabled: boolean
  readonly severity: Severity
  /** The only workspace it looks at; the empty text for all of them. */
  readonly workspace: string
  /** Ids of the channels that are told; null for every channel that may hear of the workspace. */
  readonly channels: readonly string[] | null
  /** How long the reason must be gone before the alert is resolved, so that one that comes and goes is one alert. */
  readonly resolveAfterMs: number
  readonly settings: RuleSettings[Kind]
}

export type AlertRule = { readonly [Kind in RuleKind]: RuleOf<Kind> }[RuleKind]

/** One thing that can be set: as people write it, with its bounds. A default of null means that it may be absent. */
export type SettingSpec =
  | { readonly type: 'duration'; readonly default: string; readonly min: string; readonly max: string }
  | { readonly type: 'count'; readonly default: number; readonly min: number; readonly max: number }
  | { readonly type: 'number'; readonly default: number; readonly min: number; readonly max: number }
  | { readonly type: 'name'; readonly default: null }

interface KindSpec {
  readonly name: string
  readonly severity: Severity
  /** Whether it speaks of the fleet as a whole, so that no workspace can have such a rule. */
  readonly fleetOnly: boolean
  /** By the name that people use: `grace` is `graceMs` inside. */
  readonly settings: Readonly<Record<string, SettingSpec>>
}

const duration = (normal: string, min = '1s', max = '30d'): SettingSpec => ({
  type: 'duration',
  default: normal,
  min,
  max,
})
const count = (normal: number): SettingSpec => ({ type: 'count', default: normal, min: 1, max: 1_000_000 })
const share = (normal: number): SettingSpec => ({ type: 'number', default: normal, min: 0.001, max: 1 })
/** Sums are kept by five minutes; a day of them is read at most. */
const window = (normal: string): SettingSpec => duration(normal, '5m', '24h')
const PART = { job: { type: 'name', default: null }, queue: { type: 'name', default: null } } as const

export const RULE_KINDS: { readonly [Kind in RuleKind]: KindSpec } = {
  schedule_not_fired: {
    name: 'A schedule did not fire',
    severity: 'critical',
    fleetOnly: false,
    settings: { grace: duration('1m') },
  },
  run_failed: {
    name: 'A run failed for good',
    severity: 'warning',
    fleetOnly: false,
    settings: {},
  },
  failed_in_a_row: {
    name: 'A schedule failed several times in a row',
    severity: 'warning',
    fleetOnly: false,
    settings: { count: { type: 'count', default: 3, min: 1, max: 50 } },
  },
  no_success: {
    name: 'A schedule has had no successful run for too long',
    severity: 'critical',
    fleetOnly: false,
    settings: { periods: { type: 'count', default: 3, min: 2, max: 100 }, atLeast: duration('5m') },
  },
  failure_rate: {
    name: 'Too many runs fail',
    severity: 'warning',
    fleetOnly: false,
    settings: { share: share(0.1), minimum: count(20), window: window('1h'), ...PART },
  },
  run_too_long: {
    name: 'A run takes too long',
    severity: 'warning',
    fleetOnly: false,
    settings: {
      factor: { type: 'number', default: 3, min: 1, max: 1000 },
      timeoutShare: share(0.9),
      minimum: count(20),
      atLeast: duration('1m', '0s'),
      untimedFactor: { type: 'number', default: 10, min: 1, max: 1000 },
    },
  },
  missed: {
    name: 'Occurrences were missed',
    severity: 'warning',
    fleetOnly: false,
    settings: { window: window('1h') },
  },
  double_fire: {
    name: 'An occurrence has two runs',
    severity: 'critical',
    fleetOnly: false,
    settings: { window: window('24h') },
  },
  queue_age: {
    name: 'Runs wait too long in a queue',
    severity: 'warning',
    fleetOnly: true,
    settings: { age: duration('5m') },
  },
  queue_depth: {
    name: 'Too many runs wait in a queue',
    severity: 'warning',
    fleetOnly: true,
    settings: { depth: { type: 'count', default: 500, min: 1, max: 9999 }, for: duration('1m', '0s') },
  },
  no_worker: {
    name: 'No worker serves a queue',
    severity: 'critical',
    fleetOnly: true,
    settings: { for: duration('1m') },
  },
  lateness_p99: {
    name: 'Runs start late',
    severity: 'warning',
    fleetOnly: false,
    // Five minutes is the last bound that lateness is counted by.
    settings: { limit: duration('15s', '5ms', '4m'), minimum: count(20), window: window('15m'), ...PART },
  },
  clock_skew: {
    name: 'The clock of a node is off',
    severity: 'warning',
    fleetOnly: true,
    settings: { limit: duration('2s', '100ms') },
  },
  planner_stalled: {
    name: 'Nobody plans',
    severity: 'critical',
    fleetOnly: true,
    settings: { after: duration('30s', '5s') },
  },
  schedule_quarantined: {
    name: 'A schedule was set aside',
    severity: 'warning',
    fleetOnly: false,
    settings: {},
  },
  leadership_flapping: {
    name: 'The planner changes hands too often',
    severity: 'warning',
    fleetOnly: true,
    settings: { changes: count(5), window: window('1h') },
  },
  dead_letter_growth: {
    name: 'Many runs failed for good',
    severity: 'warning',
    fleetOnly: false,
    settings: { count: count(100), window: window('1h'), ...PART },
  },
  orphaned_rows: {
    name: 'Rows are left that no process takes further',
    severity: 'warning',
    fleetOnly: true,
    settings: { for: duration('1m') },
  },
  cleanup_failing: {
    name: 'Old rows are not cleaned up',
    severity: 'warning',
    fleetOnly: true,
    // A process that cleans up writes that down every five minutes.
    settings: { after: duration('15m', '10m') },
  },
  store_failed_over: {
    name: 'The database failed over and may have lost writes',
    severity: 'critical',
    fleetOnly: true,
    settings: { window: window('1h') },
  },
}

export const RULE_KIND_NAMES = Object.keys(RULE_KINDS) as RuleKind[]

/** The id of the rule that holds for a kind until somebody stores one of the same id. */
export const defaultRuleId = (kind: RuleKind): string => `default-${kind.replaceAll('_', '-')}`

/** The kind whose default rule has this id; undefined when it is no such id. */
export const kindOfDefault = (id: string): RuleKind | undefined =>
  RULE_KIND_NAMES.find((kind) => defaultRuleId(kind) === id)
