/** Formats a stored definition as the options of `schedule()`. */
import type { Delivery } from '../job.ts'
import type { Json } from '../json.ts'
import type { Overlap } from '../run/run.ts'
import { timeoutText } from '../run/timeout.ts'
import type { Fold, Gap } from '../schedule/clock-change.ts'
import { joinAnd } from '../schedule/english.ts'
import { dateOf } from '../schedule/instant.ts'
import {
  type CatchUp,
  type ScheduleDefinition,
  seedOf,
  type TimingRule,
  type TimingSpec,
  timingOf,
} from '../schedule/schedule.ts'
import { formatDuration } from '../time/duration.ts'
import { type ExcludeOption, toExclusionInput } from './read-exclusions.ts'
import { type JitterInput, toJitterInput } from './read-firing.ts'
import { zoneOf } from './read-timing.ts'

/** One of `cron`, `every` and `at`. */
export interface RuleInput {
  readonly cron?: string
  readonly timezone?: string
  readonly dst?: { readonly gap?: Gap; readonly fold?: Fold }
  readonly every?: string
  readonly at?: Date
}

export interface ScheduleInput extends RuleInput {
  readonly any?: readonly RuleInput[]
  readonly startAt: Date | null
  readonly endAt: Date | null
  readonly exclude: readonly ExcludeOption[]
  readonly job: string
  readonly queue: string
  readonly payload: Json
  readonly priority: number
  readonly retry: {
    readonly attempts: number
    readonly backoff: 'exponential' | 'fixed'
    readonly base: string
    readonly max: string
  }
  /** Such as `1h`, or `none`. */
  readonly timeout: string
  readonly delivery: Delivery
  readonly overlap: Overlap
  readonly jitter: JitterInput
  readonly maxRuns: number | null
  readonly concurrencyKey: string | null
  readonly pauseOnFailure: number | null
  readonly catchUp: CatchUp
  readonly catchUpWindow: string
  readonly catchUpLimit: number
  readonly description: string
  readonly tags: readonly string[]
  readonly metadata: Json
  readonly source: string
}

export function toScheduleInput(definition: ScheduleDefinition): ScheduleInput {
  const { timing, catchUp, firing } = definition
  const { delivery, pauseOnFailure } = definition.policy
  const retry = definition.policy.retry
  return {
    ...(timing.kind === 'any' ? { any: timing.of.map(toRuleInput) } : toRuleInput(timing)),
    startAt: dateOf(timing.startAt ?? null),
    endAt: dateOf(timing.endAt ?? null),
    exclude: toExcludeInput(timing),
    job: definition.job,
    queue: definition.queue,
    payload: definition.payload,
    priority: definition.priority,
    retry: {
      attempts: retry.attempts,
      backoff: retry.backoff,
      base: formatDuration(retry.baseMs),
      max: formatDuration(retry.maxMs),
    },
    timeout: timeoutText(definition.policy),
    delivery: delivery ?? 'at_least_once',
    overlap: firing.overlap,
    jitter: toJitterInput(firing.jitter),
    maxRuns: firing.maxRuns,
    concurrencyKey: firing.concurrencyKey,
    pauseOnFailure: pauseOnFailure ?? null,
    catchUp: catchUp.catchUp,
    catchUpWindow: formatDuration(catchUp.windowMs),
    catchUpLimit: catchUp.limit,
    description: definition.description,
    tags: definition.tags,
    metadata: definition.metadata,
    source: definition.source,
  }
}

function toRuleInput(rule: TimingRule): RuleInput {
  switch (rule.kind) {
    case 'cron':
      return { cron: rule.cron, timezone: rule.timezone, ...(rule.dst ? { dst: rule.dst } : {}) }
    case 'interval':
      return { every: formatDuration(rule.everyMs) }
    case 'once':
      return { at: new Date(rule.at) }
    default:
      // A schedule with a rule of a newer version must still be shown, without that rule.
      return {}
  }
}

const toExcludeInput = (timing: TimingSpec): readonly ExcludeOption[] => {
  const zone = zoneOf(timing)
  return (timing.exclude ?? []).map((each) => toExclusionInput(each, zone))
}

/** The most exclusions that one sentence names. */
const MAX_NAMED = 3

/** The timing and its bounds in English; throws when this version cannot read the timing. */
export function whenText(definition: ScheduleDefinition): string {
  const { timing, firing } = definition
  const { startAt, endAt } = timing
  const rule = timingOf(timing, seedOf(definition)).describe()
  const excluded = toExcludeInput(timing).map(inEnglish)
  const bounds = [
    ...(startAt === undefined ? [] : [`from ${instantText(startAt)}`]),
    ...(endAt === undefined ? [] : [`until ${instantText(endAt)}`]),
    ...(excluded.length === 0 ? [] : [`except ${joinAnd(shortened(excluded))}`]),
    ...(firing.maxRuns === null ? [] : [`at most ${firing.maxRuns} run${firing.maxRuns === 1 ? '' : 's'}`]),
  ].join(', ')
  return bounds === '' ? rule : `${rule} ${bounds[0]!.toUpperCase()}${bounds.slice(1)}.`
}

const shortened = (words: readonly string[]): readonly string[] =>
  words.length <= MAX_NAMED ? words : [...words.slice(0, MAX_NAMED), `${words.length - MAX_NAMED} more`]

function inEnglish(words: ExcludeOption): string {
  if (typeof words !== 'string') {
    if ('cron' in words) return `"${words.cron}" ${words.timezone}`
    return `${instantText(words.from)} to ${instantText(words.to)}`
  }
  const [first, last] = words.split('/')
  if (!/^\d{4}-/.test(words)) return `"${words}"`
  return last === undefined ? words : `${first} to ${last}`
}

const instantText = (at: number | string | Date): string => new Date(at).toISOString().replace('.000Z', 'Z')
