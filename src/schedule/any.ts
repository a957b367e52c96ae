/** Several timings as one: an occurrence of any of them is an occurrence, and one of two at the same instant is one. */
import { Timing, type Warning } from './timing.ts'

export class Any extends Timing {
  readonly kind = 'any'
  readonly expression: string
  readonly timezone: string
  readonly #of: readonly Timing[]

  constructor(of: readonly Timing[]) {
    super()
    this.#of = of
    this.expression = of.map(({ expression }) => expression).join(' | ')
    this.timezone = [...new Set(of.map(({ timezone }) => timezone))].join(', ')
  }

  nextAt(after: number): number | null {
    return extreme(this.#of, (timing) => timing.nextAt(after), Math.min)
  }

  prevAt(before: number): number | null {
    return extreme(this.#of, (timing) => timing.prevAt(before), Math.max)
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
  override countableUntil(after: number, until: number): number {
    if (this.#walked(after, until) <= MAX_WALKED) return until
    // From near to far: counting over decades is more work than over the seconds that are mostly meant.
    let [low, high] = [after, Math.min(until, after + 1000)]
    while (high < until && this.#walked(after, high) <= MAX_WALKED) {
      low = high
      high = Math.min(until, after + 2 * (high - after))
    }
    while (high - low > 1) {
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

function extreme(
  timings: readonly Timing[],
  ask: (timing: Timing) => number | null,
  choose: (a: number, b: number) => number,
): number | null {
  let found: number | null = null
  for (const timing of timings) {
    const at = ask(timing)
    if (at !== null) found = found === null ? at : choose(found, at)
  }
  return found
}
