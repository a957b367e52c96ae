/** The kinds of alert rules, their settings, and the default rules. `alert-condition.ts` evaluates them. */

/** The settings of each kind; durations are milliseconds here and text in the API. */
export interface RuleSettings {
  /** A cursor has not moved, or a due run has not started, for longer than this. */
  readonly schedule_not_fired: { readonly graceMs: number }
  /** Per schedule, and per job for runs without a schedule, until it succeeds again. */
  readonly run_failed: Record<never, never>
  readonly failed_in_a_row: { readonly count: number }
  /** No success for at least `atLeastMs`, during which at least `periods` occurrences came due. */
  readonly no_success: { readonly periods: number; readonly atLeastMs: number }
  readonly failure_rate: Window & Part & { readonly share: number; readonly minimum: number }
  /**
   * `factor` times the p95 of its job, once `minimum` durations are known, or `timeoutShare` of its timeout. Without a timeout also
   * `untimedFactor` times the typical duration of its schedule, or of its job if it has no schedule.
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
  /** More than `depth` runs are due in a queue, and the oldest has waited for `forMs`. */
  readonly queue_depth: { readonly depth: number; readonly forMs: number }
  readonly no_worker: { readonly forMs: number }
  readonly lateness_p99: Window & Part & { readonly limitMs: number; readonly minimum: number }
  readonly clock_skew: { readonly limitMs: number }
  readonly planner_stalled: { readonly afterMs: number }
  readonly schedule_quarantined: Record<never, never>
  readonly leadership_flapping: Window & { readonly changes: number }
  readonly dead_letter_growth: Window & Part & { readonly count: number }
  /** Rows that no process handles have existed for this long. */
  readonly orphaned_rows: { readonly forMs: number }
  readonly cleanup_failing: { readonly afterMs: number }
  /** The database failed over within the window, and acknowledged writes may be missing. */
  readonly store_failed_over: Window
}

interface Window {
  readonly windowMs: number
}

/** Limits a rule to the runs of one job or queue; all runs if both are absent. */
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
  /** The only workspace that the rule checks; the empty text for all. */
  readonly workspace: string
  /** Ids of the channels to notify; null for every channel that receives alerts of the workspace. */
  readonly channels: readonly string[] | null
  /** How long the condition must be clear before the alert resolves, so that a flapping condition is one alert. */
  readonly resolveAfterMs: number
  readonly settings: RuleSettings[Kind]
}

export type AlertRule = { readonly [Kind in RuleKind]: RuleOf<Kind> }[RuleKind]

/** One setting as written in the API, with its bounds. A default of null means that it is optional. */
export type SettingSpec =
  | { readonly type: 'duration'; readonly default: string; readonly min: string; readonly max: string }
  | { readonly type: 'count'; readonly default: number; readonly min: number; readonly max: number }
  | { readonly type: 'number'; readonly default: number; readonly min: number; readonly max: number }
  | { readonly type: 'name'; readonly default: null }

interface KindSpec {
  readonly name: string
  readonly severity: Severity
  /** Whether it is about the whole fleet, so that no workspace can have such a rule. */
  readonly fleetOnly: boolean
  /** By API name: `grace` is `graceMs` in code. */
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
/** Sums are stored per five minutes; a rule reads at most one day of them. */
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
    name: 'A run failed permanently',
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
    // Five minutes is the last bucket bound of the lateness counts.
    settings: { limit: duration('15s', '5ms', '4m'), minimum: count(20), window: window('15m'), ...PART },
  },
  clock_skew: {
    name: 'The clock of a node is wrong',
    severity: 'warning',
    fleetOnly: true,
    settings: { limit: duration('2s', '100ms') },
  },
  planner_stalled: {
    name: 'No process plans schedules',
    severity: 'critical',
    fleetOnly: true,
    settings: { after: duration('30s', '5s') },
  },
  schedule_quarantined: {
    name: 'A schedule was quarantined',
    severity: 'warning',
    fleetOnly: false,
    settings: {},
  },
  leadership_flapping: {
    name: 'The planner lease changes hands too often',
    severity: 'warning',
    fleetOnly: true,
    settings: { changes: count(5), window: window('1h') },
  },
  dead_letter_growth: {
    name: 'Many runs failed permanently',
    severity: 'warning',
    fleetOnly: false,
    settings: { count: count(100), window: window('1h'), ...PART },
  },
  orphaned_rows: {
    name: 'No process handles some runs',
    severity: 'warning',
    fleetOnly: true,
    settings: { for: duration('1m') },
  },
  cleanup_failing: {
    name: 'Old rows are not cleaned up',
    severity: 'warning',
    fleetOnly: true,
    // A process that cleans up records its progress every five minutes.
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

/** The id of the default rule of a kind; a stored rule with this id replaces it. */
export const defaultRuleId = (kind: RuleKind): string => `default-${kind.replaceAll('_', '-')}`

/** The kind whose default rule has this id; undefined for any other id. */
export const kindOfDefault = (id: string): RuleKind | undefined =>
  RULE_KIND_NAMES.find((kind) => defaultRuleId(kind) === id)
