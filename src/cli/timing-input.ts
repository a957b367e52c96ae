/** Turns the words and options of a command into a timing, its zone and its starting instant; the engine judges each of them. */
import { existsSync } from 'node:fs'
import { EverytickError } from '../errors.ts'
import type { Fold, Gap } from '../schedule/clock-change.ts'
import { type CronOptions, parseCron } from '../schedule/cron.ts'
import { readInstant } from '../schedule/instant.ts'
import { refuseNever } from '../schedule/never.ts'
import { type TimeZone, timeZone } from '../schedule/time-zone.ts'
import type { Timing } from '../schedule/timing.ts'
import { systemClock } from '../time/clock.ts'

/** The options that `next` and `explain` share, as commander hands them over. */
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
  /** The zone that was asked for: an interval has none of its own but is still shown in it. */
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

/** An expression without quotes arrives as several words, which is fine as long as the shell found no files for its stars. */
function readFilters(words: readonly string[], options: CronOptions): ReturnType<typeof parseCron> {
  try {
    return parseCron(words.join(' '), options)
  } catch (error) {
    const file = words.length > 1 ? words.find((word) => existsSync(word)) : undefined
    if (file === undefined || !(error instanceof EverytickError)) throw error
    const message = `the shell put names of files in place of a *: "${file}" is among the ${words.length} words`
    throw new EverytickError(error.code, message, {
      hint: 'put the expression in quotes, like "*/5 * * * *"',
      cause: error,
    })
  }
}

/** The years that RFC 3339 can write, less a day at both ends for the offsets of zones. */
const FIRST_INSTANT = Date.UTC(1, 0, 1)
export const LAST_INSTANT = Date.UTC(9999, 11, 31)

export function readFrom(text: string | undefined): number {
  if (text === undefined) return systemClock.now()
  const from = readInstant(text)
  if (from >= FIRST_INSTANT && from <= LAST_INSTANT) return from
  throw new EverytickError('INSTANT_INVALID', `--from ${JSON.stringify(text)} is too far away`, {
    hint: 'stay within the years 1 to 9999',
  })
}
