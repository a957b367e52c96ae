/** What every kind of timing answers, built from three questions each kind decides for itself: next, previous, how many. */
import { EverytickError, shown } from '../errors.ts'
import { systemClock } from '../time/clock.ts'
import type { FieldName } from './cron-field.ts'
import { dateOf, instantOf } from './instant.ts'

export interface Warning {
  readonly code: 'DAY_OR_WEEKDAY' | 'DST_GAP' | 'DST_FOLD' | 'ENDS' | 'FIRES_PER_YEAR' | 'HASH_UNSEEDED' | 'NEVER'
  /** The instant this speaks of, where it speaks of one. */
  readonly at?: Date
  readonly text: string
}

export interface FieldView {
  readonly text: string
  /** The plain values, ascending; what `L`, `W` and `#` choose depends on the month and is not among them. */
  readonly values: readonly number[]
}

export abstract class Timing {
  abstract readonly kind: 'cron' | 'interval' | 'once' | 'any' | 'reboot'
  /** What was read, in the words it was given. */
  abstract readonly expression: string
  abstract readonly timezone: string

  /** Epoch milliseconds of the first occurrence strictly after `after`, or null when there is none. */
  abstract nextAt(after: number): number | null
  /** Epoch milliseconds of the last occurrence strictly before `before`, or null when there is none. */
  abstract prevAt(before: number): number | null
  /** How many occurrences lie in (from, to], without walking them. */
  abstract countAt(from: number, to: number): number
  /** An instant up to `until` for which `countAt(after, …)` is little work; only several rules as one are ever too much. */
  countableUntil(_after: number, until: number): number {
    return until
  }

  /** Not more than `countAt` answers, found at once however many there are. */
  countAtLeast(from: number, to: number): number {
    return this.countAt(from, to)
  }

  /** One English sentence. */
  abstract describe(): string
  protected abstract warningsAt(from: number): Warning[]

  /** The fields of a cron expression; empty for the other kinds. */
  get fields(): Readonly<Partial<Record<FieldName, FieldView>>> {
    return NO_FIELDS
  }

  /** The first occurrence strictly after `after`, or null when there is none. */
  next(after: Date): Date | null {
    return dateOf(this.nextAt(instantOf(after)))
  }

  /** The last occurrence strictly before `before`, or null when there is none. */
  prev(before: Date): Date | null {
    return dateOf(this.prevAt(instantOf(before)))
  }

  /** Up to `count` occurrences strictly after `after`. */
  nextMany(after: Date, count: number): Date[] {
    if (!Number.isInteger(count) || count < 0) {
      throw new EverytickError('OPTION_INVALID', `count must be a whole number of at least 0, not ${shown(count)}`)
    }
    const found: Date[] = []
    for (let at = this.nextAt(instantOf(after)); at !== null && found.length < count; at = this.nextAt(at)) {
      found.push(new Date(at))
    }
    return found
  }

  /** Lazily, every occurrence with `from` < occurrence <= `to`, so that adjoining ranges neither share nor lose one. */
  between(from: Date, to: Date): IterableIterator<Date> {
    return this.#walk(instantOf(from), instantOf(to))
  }

  *#walk(from: number, to: number): Generator<Date, undefined> {
    for (let at = this.nextAt(from); at !== null && at <= to; at = this.nextAt(at)) yield new Date(at)
  }

  /** How many occurrences `between(from, to)` gives. */
  count(from: Date, to: Date): number {
    return this.countAt(instantOf(from), instantOf(to))
  }

  /** Whether this very instant is an occurrence. */
  matches(date: Date): boolean {
    const at = instantOf(date)
    return this.nextAt(at - 1) === at
  }

  /** What a careful author should know before saving; looks at the twelve months after `from` (default: now). */
  warnings(from?: Date): Warning[] {
    return this.warningsAt(from === undefined ? systemClock.now() : instantOf(from))
  }
}

const NO_FIELDS = Object.freeze({})
