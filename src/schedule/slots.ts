/** The nominal occurrences of a stored timing within its bounds, and why one of them must not run; whether it does run is planned elsewhere. */
import { type Exclusions, exclusionsOf } from './exclusions.ts'
import { type TimingRule, type TimingSpec, timingOf } from './schedule.ts'
import type { SearchBudget } from './search-budget.ts'
import type { Timing } from './timing.ts'

/** Why an occurrence does not run, from the definition alone. */
export interface WhyNot {
  readonly reason: 'before_start' | 'excluded' | 'dst_gap'
  readonly detail: string
  /** It holds for every occurrence from the one asked about up to, but not at, this instant. */
  readonly untilAt: number
}

/** How far a search came. */
export interface Sought {
  /** The occurrence that may run; null where there is none, and where the budget ended first. */
  readonly at: number | null
  /** Where to go on searching, with a budget of its own: no occurrence up to here may run. Null when the search is over. */
  readonly stoppedAt: number | null
}

export interface Slots extends Pick<Timing, 'nextAt' | 'prevAt' | 'countAt' | 'expression'> {
  /** How many steps of a budget it takes to look at one occurrence. */
  readonly lookSteps: number
  whyNot(at: number): WhyNot | null
  /** Searches for the first occurrence strictly after `after` that nothing in the definition keeps from running. */
  seek(after: number, budget: SearchBudget): Sought
  /** Not more than `countAt` answers, found at once. */
  countAtLeast(from: number, to: number): number
  /** The latest instant up to `until` for which counting the occurrences after `after` is little work. */
  countableUntil(after: number, until: number): number
}

/** Exclusions that are asked in the time of one step. */
const ASKED_PER_STEP = 10
/** What it takes to find out how long one that may not run is left out. */
const EXCLUDED_STEPS = 4

export function slotsOf(spec: TimingSpec, seed: string): Slots {
  const { startAt, endAt, exclude } = spec
  const exact = timingOf(spec, seed)
  // What a clock change leaves out is an occurrence all the same, of which it must be said that it was left out.
  const nominal = skipsGaps(spec) ? timingOf(withGaps(spec), seed) : exact
  const lastAt = endAt ?? Number.POSITIVE_INFINITY
  const lookSteps = (spec.kind === 'any' ? spec.of.length : 1) + (exclude?.length ?? 0) / ASKED_PER_STEP
  let exclusions: Exclusions | null = null

  const whyNot = (at: number): WhyNot | null => {
    if (startAt !== undefined && at < startAt) {
      return { reason: 'before_start', detail: new Date(startAt).toISOString(), untilAt: startAt }
    }
    if (exclude !== undefined) {
      exclusions ??= exclusionsOf(exclude)
      const found = exclusions.whyAt(at)
      if (found) return { reason: 'excluded', ...found }
    }
    if (nominal !== exact && exact.nextAt(at - 1) !== at) {
      return { reason: 'dst_gap', detail: exact.timezone, untilAt: at + 1 }
    }
    return null
  }

  const nextAt = (after: number): number | null => {
    const at = nominal.nextAt(after)
    return at !== null && at <= lastAt ? at : null
  }

  return {
    expression: nominal.expression,
    lookSteps,
    nextAt,
    prevAt: (before) => nominal.prevAt(Math.min(before, lastAt + 1)),
    countAt: (from, to) => (from < lastAt ? nominal.countAt(from, Math.min(to, lastAt)) : 0),
    countAtLeast: (from, to) => (from < lastAt ? nominal.countAtLeast(from, Math.min(to, lastAt)) : 0),
    countableUntil: (after, until) => nominal.countableUntil(after, until),
    whyNot,
    seek(after, budget) {
      for (let at = nextAt(after); at !== null; ) {
        budget.left -= lookSteps
        const why = whyNot(at)
        if (!why) return { at, stoppedAt: null }
        budget.left -= EXCLUDED_STEPS
        const freeAt = why.reason === 'excluded' ? exclusions!.freeFrom(why.untilAt, lastAt, budget) : why.untilAt
        if (budget.left <= 0) return { at: null, stoppedAt: freeAt - 1 }
        at = nextAt(freeAt - 1)
      }
      return NONE
    },
  }
}

const NONE: Sought = { at: null, stoppedAt: null }

function skipsGaps(rule: TimingRule): boolean {
  if (rule.kind === 'any') return rule.of.some(skipsGaps)
  return rule.kind === 'cron' && rule.dst?.gap === 'skip'
}

function withGaps(rule: TimingRule): TimingRule {
  if (rule.kind === 'any') return { ...rule, of: rule.of.map(withGaps) }
  return rule.kind === 'cron' ? { ...rule, dst: { ...rule.dst, gap: 'shift' } } : rule
}
