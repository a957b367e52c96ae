/** The nominal occurrences of a stored timing within its bounds, and why one of them must not run; whether it does run is planned elsewhere. */
import { type Exclusions, exclusionsOf } from './exclusions.ts'
import { type Exclusion, type TimingRule, type TimingSpec, timingOf } from './schedule.ts'
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
  readonly scanSteps: number
  whyNot(at: number): WhyNot | null
  /** Searches for the first occurrence strictly after `after` that nothing in the definition keeps from running. */
  seek(after: number, budget: SearchBudget): Sought
  /** Not more than `countAt` answers, found at once. */
  countAtLeast(from: number, to: number): number
  /** An instant up to `until`, as late as is easily found, for which counting the occurrences after `after` is little work. */
  countableUntil(after: number, until: number): number
}

/** Exclusions that are asked in the time of one step. */
const ASKED_PER_STEP = 10

export const slotsOf = (spec: TimingSpec, seed: string): Slots => new SpecSlots(spec, seed)

/** A class, since one is made for each schedule in each pass of the planner: a closure for each verb costs a quarter of a plan. */
class SpecSlots implements Slots {
  readonly scanSteps: number
  readonly #spec: TimingSpec
  readonly #exact: Timing
  /** What a clock change leaves out is an occurrence all the same, of which it must be said that it was left out. */
  readonly #nominal: Timing
  readonly #lastAt: number
  #exclusions: Exclusions | null = null

  constructor(spec: TimingSpec, seed: string) {
    this.#spec = spec
    this.#exact = timingOf(spec, seed)
    this.#nominal = skipsGaps(spec) ? timingOf(withGaps(spec), seed) : this.#exact
    this.#lastAt = spec.endAt ?? Number.POSITIVE_INFINITY
    this.scanSteps = rulesIn(spec) + (spec.exclude?.length ?? 0) / ASKED_PER_STEP
  }

  get expression(): string {
    return this.#nominal.expression
  }

  nextAt(after: number): number | null {
    const at = this.#nominal.nextAt(after)
    return at !== null && at <= this.#lastAt ? at : null
  }

  prevAt(before: number): number | null {
    return this.#nominal.prevAt(Math.min(before, this.#lastAt + 1))
  }

  countAt(from: number, to: number): number {
    return from < this.#lastAt ? this.#nominal.countAt(from, Math.min(to, this.#lastAt)) : 0
  }

  countAtLeast(from: number, to: number): number {
    return from < this.#lastAt ? this.#nominal.countAtLeast(from, Math.min(to, this.#lastAt)) : 0
  }

  countableUntil(after: number, until: number): number {
    return this.#nominal.countableUntil(after, until)
  }

  whyNot(at: number): WhyNot | null {
    const { startAt, exclude } = this.#spec
    if (startAt !== undefined && at < startAt) {
      return { reason: 'before_start', detail: new Date(startAt).toISOString(), untilAt: startAt }
    }
    if (exclude !== undefined) {
      const found = this.#merged(exclude).whyAt(at)
      if (found) return { reason: 'excluded', ...found }
    }
    if (this.#nominal !== this.#exact && this.#exact.nextAt(at - 1) !== at) {
      return { reason: 'dst_gap', detail: this.#exact.timezone, untilAt: at + 1 }
    }
    return null
  }

  seek(after: number, budget: SearchBudget): Sought {
    const { exclude } = this.#spec
    const rules = rulesIn(this.#spec)
    let isFirst = true
    for (let at = this.nextAt(after); at !== null; isFirst = false) {
      budget.left -= isFirst ? this.scanSteps : rules
      // What is left out mostly begins a stretch of it: from the second look on, the merged exclusions are asked.
      const freeAt = isFirst || !exclude ? at : this.#merged(exclude).freeFrom(at, this.#lastAt, budget)
      const why = freeAt === at ? this.whyNot(at) : null
      if (freeAt === at && !why) return { at, stoppedAt: null }
      const goesOnAt = why ? why.untilAt : freeAt
      if (budget.left <= 0) return { at: null, stoppedAt: goesOnAt - 1 }
      at = this.nextAt(goesOnAt - 1)
    }
    return NONE
  }

  #merged(list: readonly Exclusion[]): Exclusions {
    this.#exclusions ??= exclusionsOf(list)
    return this.#exclusions
  }
}

const rulesIn = (spec: TimingSpec): number => (spec.kind === 'any' ? spec.of.length : 1)

const NONE: Sought = { at: null, stoppedAt: null }

function skipsGaps(rule: TimingRule): boolean {
  if (rule.kind === 'any') return rule.of.some(skipsGaps)
  return rule.kind === 'cron' && rule.dst?.gap === 'skip'
}

function withGaps(rule: TimingRule): TimingRule {
  if (rule.kind === 'any') return { ...rule, of: rule.of.map(withGaps) }
  return rule.kind === 'cron' ? { ...rule, dst: { ...rule.dst, gap: 'shift' } } : rule
}
