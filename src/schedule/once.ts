/** A single instant as a timing. */
import { readInstant } from './instant.ts'
import { Timing, type Warning } from './timing.ts'

export class Once extends Timing {
  readonly kind = 'once'
  readonly timezone = 'UTC'
  readonly expression: string
  readonly at: number

  constructor(at: number) {
    super()
    this.at = at
    this.expression = new Date(at).toISOString()
    Object.freeze(this)
  }

  nextAt(after: number): number | null {
    return after < this.at ? this.at : null
  }

  prevAt(before: number): number | null {
    return before > this.at ? this.at : null
  }

  countAt(from: number, to: number): number {
    return from < this.at && this.at <= to ? 1 : 0
  }

  describe(): string {
    return `Once, at ${this.expression}.`
  }

  protected warningsAt(): Warning[] {
    return []
  }
}

export function once(at: string | Date): Once {
  return new Once(readInstant(at))
}
