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
      for (let at = timing.nextAt(from); at !== null && at <= to; at = timing.nextAt(at)) {
        const instant = at
        if (!counted.slice(0, i).some((denser) => denser.timing.nextAt(instant - 1) === instant)) total++
      }
    }
    return total
  }

  describe(): string {
    return this.#of.map((timing) => timing.describe()).join(' And: ')
  }

  protected warningsAt(from: number): Warning[] {
    return this.#of.flatMap((timing) => timing.warnings(new Date(from)))
  }
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
