/** Groups schedules with the same timing into classes, and distributes `H` over their members. */
import { EverytickError } from '../errors.ts'
import { parseCron } from '../schedule/cron.ts'
import { readCron } from '../schedule/cron-expression.ts'
import { FIELD_SPECS, type Field } from '../schedule/cron-field.ts'
import { type Jitter, seedOf, type TimingRule, type TimingSpec } from '../schedule/schedule.ts'
import type { Steps } from '../time/steps.ts'

export interface TimingClass {
  readonly timing: TimingSpec
  readonly jitter: Jitter | null
  readonly job: string
  readonly count: number
  /** A sample schedule, for display. */
  readonly sample: { readonly workspace: string; readonly key: string }
}

/** A timing of a class, and the number of schedules per occurrence. */
export interface Part<Timing extends TimingRule = TimingSpec> {
  readonly timing: Timing
  readonly schedules: number
}

/**
 * Schedules with an `H` in their cron choose a value of its range by their names. A class uses the whole range instead, where each
 * value counts for a share of the schedules. A single schedule is evaluated by its name.
 */
export function partsOf({ timing, count, sample }: TimingClass): Part[] {
  if (count === 1 || !usesName(timing)) return [{ timing, schedules: count }]
  const { startAt, endAt, exclude } = timing
  const bounds = {
    ...(startAt === undefined ? {} : { startAt }),
    ...(endAt === undefined ? {} : { endAt }),
    ...(exclude === undefined ? {} : { exclude }),
  }
  return rulesOf(timing).map((rule) => {
    const spread = spreadRule(rule, seedOf(sample))
    return { timing: { ...spread.timing, ...bounds }, schedules: spread.schedules * count }
  })
}

const MINUTE_MS = 60_000

/**
 * Stores group plain intervals and single instants by minute, and return one sample. If the sample is not at the full minute, the
 * members of the class are assumed to be spread over that minute.
 */
export function withinMinute(each: TimingClass): TimingClass {
  const { timing, jitter, count } = each
  if (count === 1 || jitter || timing.startAt !== undefined || timing.endAt !== undefined || timing.exclude) return each
  if (timing.kind === 'once' && timing.at % MINUTE_MS !== 0) {
    return { ...each, timing: { ...timing, at: minuteOf(timing.at) }, jitter: ANYWHERE }
  }
  if (timing.kind === 'interval' && timing.anchorAt % MINUTE_MS !== 0) {
    return { ...each, timing: { ...timing, anchorAt: minuteOf(timing.anchorAt) }, jitter: ANYWHERE }
  }
  return each
}

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS) * MINUTE_MS
const ANYWHERE: Jitter = Object.freeze({ max: Object.freeze({ ms: MINUTE_MS }), per: 'schedule' })

/** Whether the occurrences depend on the name of the schedule. */
export const usesName = (rule: TimingRule): boolean => rulesOf(rule).some(mayHash)

export type PlainRule = Exclude<TimingRule, { kind: 'any' }>

export const rulesOf = (rule: TimingRule): readonly PlainRule[] =>
  rule.kind === 'any' ? rule.of.flatMap(rulesOf) : [rule]

const mayHash = (rule: TimingRule): boolean => rule.kind === 'cron' && /h/i.test(rule.cron)

/** The rule with every `H` widened to its range, and the share of one schedule. */
function spreadRule(rule: PlainRule, seed: string): Part<PlainRule> {
  if (rule.kind !== 'cron' || !mayHash(rule)) return { timing: rule, schedules: 1 }
  const tree = readCron(rule.cron, seed)
  if (tree.kind !== 'fields' || !tree.hashed) return { timing: rule, schedules: 1 }
  const cron = tree.fields.map(widened).join(' ')
  const { fields } = parseCron(cron, { timezone: rule.timezone, seed })
  let schedules = 1
  for (const field of tree.fields) {
    if (isAlone(field)) schedules /= Math.min(stepOf(field), fields[field.name]?.values.length ?? 1)
  }
  return { timing: { ...rule, cron }, schedules }
}

/** In a list with other values, `H` keeps the value of the sample, because its range would hide the others. */
const isAlone = ({ items }: Field): boolean => items.length === 1 && items[0]!.kind === 'hash'

/** `H`, `H(a-b)`, `H/n` and `H(a-b)/n`; a value of the range is chosen by one seed of so many as the step is long. */
const HASH = /^h(?:\((.+)\))?(?:\/(\d+))?$/i

function widened(field: Field): string {
  if (!isAlone(field)) return field.text
  const { min, lastHash } = FIELD_SPECS.find(({ name }) => name === field.name)!
  return HASH.exec(field.text)?.[1] ?? `${min}-${lastHash}`
}

const stepOf = ({ text }: Field): number => Number(HASH.exec(text)?.[2] ?? Number.POSITIVE_INFINITY)

/** Null for an unreadable timing: the planner will quarantine it, and the other classes are still evaluated. */
export function readable<Value>(work: () => Value): Value | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof EverytickError) return null
    throw error
  }
}

/** The same for generators that yield in small steps. */
export function* readableSteps<Value>(work: Steps<Value>): Steps<Value | null> {
  try {
    return yield* work
  } catch (error) {
    if (error instanceof EverytickError) return null
    throw error
  }
}
