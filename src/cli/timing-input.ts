/** Turns the arguments and options of a command into a timing, its zone and its starting instant; the engine validates each. */
import { existsSync } from 'node:fs'
import { EverytickError } from '../errors.ts'
import type { Fold, Gap } from '../schedule/clock-change.ts'
import { type CronOptions, parseCron } from '../schedule/cron.ts'
import { readInstant } from '../schedule/instant.ts'
import { refuseNever } from '../schedule/never.ts'
import { type TimeZone, timeZone } from '../schedule/time-zone.ts'
import type { Timing } from '../schedule/timing.ts'
import { systemClock } from '../time/clock.ts'

/** The options that `next` and `explain` share, as parsed by commander. */
export interface TimingOptions {
  readonly tz?: string
  readonly from?: string
  readonly gap?: Gap
  readonly fold?: Fold
  readonly seed?: string
  readonly json?: boolean
}

export interface TimingInput {
  readonly timing: Timing
  /** The requested zone: an interval has no zone of its own, but its occurrences are shown in this one. */
  readonly zone: TimeZone
  readonly from: number
}

export function readTimingInput(words: readonly string[], options: TimingOptions): TimingInput {
  const { tz = 'UTC', gap, fold, seed } = options
  const zone = timeZone(tz)
  const dst = { ...(gap && { gap }), ...(fold && { fold }) }
  const from = readFrom(options.from)
  const timing = readFilters(words, { timezone: zone.name, dst, ...(seed !== undefined && { seed }) })
  refuseNever(timing, from)
  return { timing, zone, from }
}

/** An unquoted expression arrives as several words, which works unless the shell expanded a `*` to file names. */
function readFilters(words: readonly string[], options: CronOptions): ReturnType<typeof parseCron> {
  try {
    return parseCron(words.join(' '), options)
  } catch (error) {
    const file = words.length > 1 ? words.find((word) => existsSync(word)) : undefined
    if (file === undefined || !(error instanceof EverytickError)) throw error
    const message = `the shell expanded a * to file names: "${file}" is one of the ${words.length} words`
    throw new EverytickError(error.code, message, {
      hint: 'put the expression in quotes, such as "*/5 * * * *"',
      cause: error,
    })
  }
}

/** The years that RFC 3339 can express, minus one day at both ends for zone offsets. */
const FIRST_INSTANT = Date.UTC(1, 0, 1)
export const LAST_INSTANT = Date.UTC(9999, 11, 31)

export function readFrom(text: string | undefined): number {
  if (text === undefined) return systemClock.now()
  const from = readInstant(text)
  if (from >= FIRST_INSTANT && from <= LAST_INSTANT) return from
  throw new EverytickError('INSTANT_INVALID', `--from ${JSON.stringify(text)} is out of range`, {
    hint: 'use a year from 1 to 9999',
  })
}
