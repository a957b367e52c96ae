/** Reads how a schedule fires: overlap, jitter, maxRuns, concurrencyKey; `read-timing.ts` reads when. */
import { shown } from '../errors.ts'
import { readKey } from '../job.ts'
import { checkKeys, type Duration, readChoice, readDuration, readInteger, refused } from '../options.ts'
import type { Overlap } from '../run/run.ts'
import type { FiringPolicy, Jitter, TimingSpec } from '../schedule/schedule.ts'
import { formatDuration } from '../time/duration.ts'

/** `none`, a duration such as `5m`, a percentage of the time to the next occurrence such as `10%`, or an object with `max` and `per`. */
export type JitterOption =
  | Duration
  | {
      readonly max: Duration
      /** `schedule` when absent: all its occurrences have the same delay. `occurrence`: each has its own. */
      readonly per?: Jitter['per']
    }

export interface FiringOptions {
  /** What happens to a run that comes due while the previous one is unfinished; `skip` when absent. */
  readonly overlap?: Overlap
  /** Delays runs, so that many schedules of one instant do not start together; `none` when absent. Runs are never early. */
  readonly jitter?: JitterOption
  /** The schedule ends after this many runs. */
  readonly maxRuns?: number
  /** Runs of one workspace with the same key run one at a time, whatever created them. */
  readonly concurrencyKey?: string
}

export const FIRING_KEYS = ['overlap', 'jitter', 'maxRuns', 'concurrencyKey']
const OVERLAPS = ['skip', 'queue', 'queue_one', 'cancel_previous', 'allow'] as const
const MAX_RUNS = 1_000_000_000
const HOW = 'write it like none, 5m or 10%'

/** Shared by all schedules without these options. */
const USUAL: FiringPolicy = Object.freeze({ overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null })

export function readFiring(options: FiringOptions, of: string, timing: TimingSpec): FiringPolicy {
  const { overlap, jitter, maxRuns, concurrencyKey } = options
  if (overlap === undefined && jitter === undefined && maxRuns === undefined && concurrencyKey === undefined)
    return USUAL
  const read = readJitter(jitter ?? 'none', `${of}: jitter`)
  if (read && 'share' in read.max && timing.kind === 'once') {
    throw refused(
      `${of}: jitter as a percentage needs a next occurrence, and a schedule with at has none`,
      'write a duration like 5m',
    )
  }
  return Object.freeze({
    overlap: readChoice(overlap ?? 'skip', `${of}: overlap`, OVERLAPS),
    jitter: read,
    maxRuns: maxRuns === undefined ? null : readInteger(maxRuns, `${of}: maxRuns`, [1, MAX_RUNS]),
    concurrencyKey: readKey(concurrencyKey, of),
  })
}

function readJitter(given: JitterOption, what: string): Jitter | null {
  if (typeof given !== 'object' || given === null) return jitterOf(given, 'schedule', what)
  checkKeys(given, ['max', 'per'], what)
  const per = readChoice(given.per ?? 'schedule', `${what}.per`, ['schedule', 'occurrence'])
  return jitterOf(given.max, per, `${what}.max`)
}

function jitterOf(given: unknown, per: Jitter['per'], what: string): Jitter | null {
  if (given === 'none') return null
  const max = typeof given === 'string' && given.endsWith('%') ? readShare(given, what) : readMs(given, what)
  return Object.values(max)[0] === 0 ? null : Object.freeze({ max: Object.freeze(max), per })
}

function readShare(text: string, what: string): { share: number } {
  const percent = /^\d{1,3}(?:\.\d{1,2})?%$/.test(text) ? Number(text.slice(0, -1)) : Number.NaN
  // Rounded, because 7 / 100 has a floating point tail that users would see.
  if (percent <= 100) return { share: Math.round(percent * 100) / 10_000 }
  throw refused(`${what} cannot be ${shown(text)}`, 'use a percentage from 0% to 100%')
}

function readMs(given: unknown, what: string): { ms: number } {
  if (typeof given === 'string' || typeof given === 'number') return { ms: readDuration(given, what) }
  throw refused(`${what} cannot be ${shown(given)}`, HOW)
}

export type JitterInput = string | { readonly max: string; readonly per: Jitter['per'] }

/** The input that `readFiring` reads back as this jitter. */
export function toJitterInput(jitter: Jitter | null): JitterInput {
  if (jitter === null) return 'none'
  const { max, per } = jitter
  const words = 'ms' in max ? formatDuration(max.ms) : `${Math.round(max.share * 10_000) / 100}%`
  return per === 'schedule' ? words : { max: words, per }
}
