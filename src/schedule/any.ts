/** Several timings as one: an occurrence of any of them is an occurrence, and one of two at the same instant is one. */
import { Timing, type Warning } from './timing.ts'

export class Any extends Timing {
  readonly kind = 'any'
  readonly expression: string
  readonly timezone: string
  readonly #of: readonly Timing[]
  /** What each rule answered last: one that fires once in decades is not searched again for each occurrence of a dense one. */
  #next: (Answered | undefined)[] = []
  #prev: (Answered | undefined)[] = []

  constructor(of: readonly Timing[]) {
    super()
    this.#of = of
    this.expression = of.map(({ expression }) => expression).join(' | ')
    this.timezone = [...new Set(of.map(({ timezone }) => timezone))].join(', ')
  }

  nextAt(after: number): number | null {
    let next = Number.POSITIVE_INFINITY
    for (let i = 0; i < this.#of.length; i++) {
      let known = this.#next[i]
      if (!known || after < known.asked || after >= known.at)
        this.#next[i] = known = { asked: after, at: this.#of[i]!.nextAt(after) ?? Number.POSITIVE_INFINITY }
      next = Math.min(next, known.at)
    }
    return next === Number.POSITIVE_INFINITY ? null : next
  }

  prevAt(before: number): number | null {
    let prev = Number.NEGATIVE_INFINITY
    for (let i = 0; i < this.#of.length; i++) {
      let known = this.#prev[i]
      if (!known || before > known.asked || before <= known.at)
        this.#prev[i] = known = { asked: before, at: this.#of[i]!.prevAt(before) ?? Number.NEGATIVE_INFINITY }
      prev = Math.max(prev, known.at)
    }
    return prev === Number.NEGATIVE_INFINITY ? null : prev
  }

  /** The densest is counted; the others are walked, and count where no denser one has the instant too. */
  countAt(from: number, to: number): number {
    const counted = this.#of
      .map((timing) => ({ timing, count: timing.countAt(from, to) }))
      .sort((a, b) => b.count - a.count)
    let total = counted[0]?.count ?? 0
    for (const [i, { timing }] of counted.entries()) {
      if (i === 0) continue
      const denser = counted.slice(0, i).map((each) => ({ timing: each.timing, at: Number.NEGATIVE_INFINITY }))
      for (let at = timing.nextAt(from); at !== null && at <= to; at = timing.nextAt(at)) {
        if (!hasInstant(denser, at)) total++
      }
    }
    return total
  }

  /** Until the rules beside the densest have as many occurrences as may be walked at once. */
  override countableUntil(after: number, given: number): number {
    const until = Math.min(given, after + MAX_SPAN_MS)
    if (this.#walked(after, until) <= MAX_WALKED) return until
    // From near to far: counting over decades is more work than over the seconds that are mostly meant.
    let [low, high] = [after, Math.min(until, after + 1000)]
    while (high < until && this.#walked(after, high) <= MAX_WALKED) {
      low = high
      high = Math.min(until, after + 2 * (high - after))
    }
    // Near enough: each question counts all rules, over centuries where they seldom fire.
    while (high - low > Math.max(1, (high - after) / NEAR)) {
      const middle = low + Math.floor((high - low) / 2)
      if (this.#walked(after, middle) <= MAX_WALKED) low = middle
      else high = middle
    }
    // Rules that fall together are one instant, and that one must not be cut.
    return Math.max(low, this.nextAt(after) ?? until)
  }

  override countAtLeast(from: number, to: number): number {
    return Math.max(...this.#of.map((timing) => timing.countAt(from, to)))
  }

  #walked(from: number, to: number): number {
    const counts = this.#of.map((timing) => timing.countAt(from, to))
    return counts.reduce((sum, count) => sum + count, 0) - Math.max(0, ...counts)
  }

  describe(): string {
    return this.#of.map((timing) => timing.describe()).join(' And: ')
  }

  protected warningsAt(from: number): Warning[] {
    return this.#of.flatMap((timing) => timing.warnings(new Date(from)))
  }
}

/** Occurrences that are walked to count those that fall together once, again and again where a count is searched. */
const MAX_WALKED = 500
/** Counting rules that seldom fire over centuries is no little work either: about thirty years. */
const MAX_SPAN_MS = 1e12
/** The part of a span by which a search for its end may miss. */
const NEAR = 64

/** The nearest occurrence that a rule has beyond `asked`; infinite where there is none. */
interface Answered {
  readonly asked: number
  readonly at: number
}

interface Cursor {
  readonly timing: Timing
  at: number
}

/** Whether one of them has the instant; asked in order, so that each looks for its next only when that has passed. */
function hasInstant(cursors: readonly Cursor[], instant: number): boolean {
  for (const cursor of cursors) {
    if (cursor.at < instant) cursor.at = cursor.timing.nextAt(instant - 1) ?? Number.POSITIVE_INFINITY
    if (cursor.at === instant) return true
  }
  return false
}
