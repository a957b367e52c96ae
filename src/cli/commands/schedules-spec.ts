/** Turns the options of `schedules create` and `edit` into REST fields; the server validates them. */
import { UsageError } from '../usage-error.ts'

/** As parsed by commander. */
export interface SpecOptions {
  readonly job?: string
  readonly payload?: string
  readonly cron?: string
  readonly tz?: string
  readonly gap?: string
  readonly fold?: string
  readonly every?: string
  readonly at?: string
  readonly startAt?: string
  readonly endAt?: string
  readonly exclude?: readonly string[]
  readonly queue?: string
  readonly priority?: string
  readonly timeout?: string
  readonly attempts?: string
  readonly delivery?: string
  readonly overlap?: string
  readonly catchUp?: string
  readonly catchUpWindow?: string
  readonly catchUpLimit?: string
  readonly jitter?: string
  readonly maxRuns?: string
  readonly concurrencyKey?: string
  readonly pauseOnFailure?: string
  readonly description?: string
  readonly tag?: readonly string[]
}

export type Spec = Readonly<Record<string, unknown>>

/** Options with the same name in REST, sent unchanged. */
const TEXTS = [
  ...(['job', 'cron', 'every', 'at', 'startAt', 'endAt', 'exclude', 'queue', 'timeout', 'delivery'] as const),
  ...(['overlap', 'catchUp', 'catchUpWindow', 'jitter', 'concurrencyKey', 'description'] as const),
]
const NUMBERS = ['priority', 'catchUpLimit', 'maxRuns', 'pauseOnFailure'] as const
/** The fields that `POST /explain` takes. */
const TIMING = ['cron', 'timezone', 'dst', 'every', 'at', 'startAt', 'endAt', 'exclude', 'jitter']

export function specOf(options: SpecOptions): Spec {
  const { tz, gap, fold, payload, attempts, tag } = options
  const fields: [string, unknown][] = [
    ...TEXTS.map((name): [string, unknown] => [name, options[name]]),
    ...NUMBERS.map((name): [string, unknown] => [name, numberOf(options[name], name)]),
    ['timezone', tz],
    ['dst', gap === undefined && fold === undefined ? undefined : { ...(gap && { gap }), ...(fold && { fold }) }],
    ['payload', jsonOf(payload)],
    ['retry', attempts === undefined ? undefined : { attempts: numberOf(attempts, 'attempts') }],
    ['tags', tag],
  ]
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

export const timingOf = (spec: Spec): Spec =>
  Object.fromEntries(Object.entries(spec).filter(([name]) => TIMING.includes(name)))

/** `--unset timeout,jitter`: fields to reset to their default. */
export function unsetOf(names: string | undefined): Spec {
  if (names === undefined) return {}
  return Object.fromEntries(names.split(',').map((name) => [name.trim(), null]))
}

function numberOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,12}$/.test(text)) return Number(text)
  throw new UsageError(`${optionOf(name)} must be a whole number, not ${JSON.stringify(text)}`)
}

const optionOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** `--payload` is JSON. */
export function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageError('--payload is not valid JSON', { hint: `such as '{"accountId":"t_42"}'`, cause })
  }
}
