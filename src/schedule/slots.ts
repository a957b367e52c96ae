/** The nominal occurrences of a stored timing within its bounds, and why one of them must not run; whether it does run is planned elsewhere. */
import { type Excluder, excluderOf } from './exclusion.ts'
import { type TimingRule, type TimingSpec, timingOf } from './schedule.ts'
import type { Timing } from './timing.ts'

/** Why an occurrence does not run, from the definition alone. */
export interface WhyNot {
  readonly reason: 'before_start' | 'excluded' | 'dst_gap'
  readonly detail: string
  /** It holds for every occurrence from the one asked about up to, but not at, this instant. */
  readonly untilAt: number
}

export interface Slots extends Pick<Timing, 'nextAt' | 'prevAt' | 'countAt' | 'expression'> {
  whyNot(at: number): WhyNot | null
  /** The first occurrence strictly after `after` that nothing in the definition keeps from running. */
  nextRunAt(after: number): number | null
}

/** Occurrences that are looked at in search of one that may run, so that a schedule that excludes all of its own ends the search. */
const MAX_LOOKS = 100_000

export function slotsOf(spec: TimingSpec, seed: string): Slots {
  const { startAt, endAt, exclude } = spec
  const exact = timingOf(spec, seed)
  // What a clock change leaves out is an occurrence all the same, of which it must be said that it was left out.
  const nominal = skipsGaps(spec) ? timingOf(withGaps(spec), seed) : exact
  const lastAt = endAt ?? Number.POSITIVE_INFINITY
  let excluders: readonly Excluder[] | null = null

  const whyNot = (at: number): WhyNot | null => {
    if (startAt !== undefined && at < startAt) {
      return { reason: 'before_start', detail: new Date(startAt).toISOString(), untilAt: startAt }
    }
    excluders ??= exclude?.map(excluderOf) ?? []
    for (const excluded of excluders) {
      const found = excluded(at)
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
    nextAt,
    prevAt: (before) => nominal.prevAt(Math.min(before, lastAt + 1)),
    countAt: (from, to) => (from < lastAt ? nominal.countAt(from, Math.min(to, lastAt)) : 0),
    whyNot,
    nextRunAt(after) {
      let at = nextAt(after)
      for (let looks = 0; at !== null && looks < MAX_LOOKS; looks++) {
        const why = whyNot(at)
        if (!why) return at
        at = nextAt(why.untilAt - 1)
      }
      return null
    },
  }
}

function skipsGaps(rule: TimingRule): boolean {
  if (rule.kind === 'any') return rule.of.some(skipsGaps)
  return rule.kind === 'cron' && rule.dst?.gap === 'skip'
}

function withGaps(rule: TimingRule): TimingRule {
  if (rule.kind === 'any') return { ...rule, of: rule.of.map(withGaps) }
  return rule.kind === 'cron' ? { ...rule, dst: { ...rule.dst, gap: 'shift' } } : rule
}
