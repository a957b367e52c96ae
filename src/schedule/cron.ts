/** A cron expression as a timing: joins the syntax tree, the zone and the clock-change rule; each of those is a file of its own. */
import { didYouMean } from '../did-you-mean.ts'
import { EverytickError, shown } from '../errors.ts'
import { systemClock } from '../time/clock.ts'
import { type Clockwork, countInstants, type Fold, type Gap, nextInstant, prevInstant } from './clock-change.ts'
import { fieldValues } from './cron-bits.ts'
import { readCron } from './cron-expression.ts'
import type { Field, FieldName } from './cron-field.ts'
import { cronWarnings } from './cron-warnings.ts'
import { choosesEveryMonth } from './day-mask.ts'
import { describeCron } from './describe.ts'
import { type Interning, interning } from './interning.ts'
import { every, type Interval } from './interval.ts'
import { timeZone, type ZoneSource } from './time-zone.ts'
import { type FieldView, Timing, type Warning } from './timing.ts'
import { wallPattern } from './wall-pattern.ts'

export interface CronOptions {
  /** An IANA name; UTC when absent. */
  readonly timezone?: string
  /** For wall-clock expressions on the days the clock changes; elapsed-like ones follow real time. */
  readonly dst?: { readonly gap?: Gap; readonly fold?: Fold }
  /** What `H` is derived from, such as `workspace/key`. */
  readonly seed?: string
  /** The zone table that ships with Everytick, or the runtime's own. */
  readonly zoneData?: ZoneSource
}

export class Cron extends Timing {
  readonly kind = 'cron'
  readonly expression: string
  readonly timezone: string
  /** Whether occurrences follow real elapsed time across clock changes instead of the wall clock. */
  readonly elapsed: boolean
  /** Whether every chosen month has an occurrence for sure. */
  readonly everyMonth: boolean
  readonly #tree: readonly Field[]
  readonly #clockwork: Clockwork
  readonly #unseeded: boolean

  constructor(tree: readonly Field[], clockwork: Clockwork, facts: { expression: string; unseeded: boolean }) {
    super()
    this.expression = facts.expression
    this.timezone = clockwork.zone.name
    this.elapsed = isElapsed(tree)
    this.everyMonth = choosesEveryMonth(tree[3]!, tree[5]!)
    this.#tree = tree
    this.#clockwork = clockwork
    this.#unseeded = facts.unseeded
    Object.freeze(this)
  }

  nextAt(after: number): number | null {
    const at = nextInstant(this.#clockwork, after)
    return Number.isNaN(at) ? null : at
  }

  prevAt(before: number): number | null {
    const at = prevInstant(this.#clockwork, before)
    return Number.isNaN(at) ? null : at
  }

  countAt(from: number, to: number): number {
    return countInstants(this.#clockwork, from, to)
  }

  override get fields(): Readonly<Record<FieldName, FieldView>> {
    const views = this.#tree.map((field) => {
      const values = Object.freeze(fieldValues(field))
      return [field.name, Object.freeze({ text: field.text, values })]
    })
    return Object.freeze(Object.fromEntries(views))
  }

  describe(): string {
    return describeCron(this.#tree, this.timezone)
  }

  protected warningsAt(from: number): Warning[] {
    return cronWarnings(this.#tree, this.#clockwork, { from, elapsed: this.elapsed, unseeded: this.#unseeded })
  }
}

/** Vixie cron's distinction: a wildcard in second, minute or hour means "keep going", not "at this time of day". */
const isElapsed = (tree: readonly Field[]): boolean => tree[0]!.wild || tree[1]!.wild || tree[2]!.wild

const NEVER_MS = 8 * 366 * 86_400_000

/** Reads an expression that a person just gave: refuses what is not cron and what has no occurrence in the next eight years. */
export function parseCron(expression: string, options: CronOptions = {}): Cron | Interval {
  const timing = compileCron(expression, options)
  if (timing.kind === 'interval' || timing.everyMonth) return timing
  const now = systemClock.now()
  const next = timing.nextAt(now)
  if (next !== null && next - now <= NEVER_MS) return timing
  throw new EverytickError('CRON_NEVER', `"${expression}" has no fire in the next 8 years`, {
    hint: 'no such date comes: check the day of month against the months and weekdays chosen',
    source: expression,
    span: [0, expression.length],
  })
}

/**
 * Distinct pairs of expression and zone are few and immutable, so a million schedules share them. The usual rule is kept
 * by the zone's own text: hashing a new text costs more than the rest of a hit.
 */
const byZone = new Map<string, Interning<Cron>>()
const byZoneAndRule = new Map<string, Interning<Cron>>()

/** The same without the eight-year rule, for expressions accepted earlier: what was accepted once keeps its meaning. */
export function compileCron(expression: string, options: CronOptions = {}): Cron | Interval {
  const { timezone = 'UTC', dst, seed, zoneData } = checked(options)
  const { gap = 'shift', fold = 'first' } = dst ?? {}
  const usual = dst === undefined && zoneData === undefined
  const families = usual ? byZone : byZoneAndRule
  const family = usual ? timezone : `${gap} ${fold} ${zoneData} ${timezone}`
  const known = families.get(family)?.get(expression)
  if (known) return known
  const tree = readCron(expression, seed ?? '')
  const zone = timeZone(timezone, zoneData)
  if (tree.kind === 'every') return every(tree.duration)
  const pattern = wallPattern(tree.fields)
  const rule = isElapsed(tree.fields) ? ELAPSED : { gap, fold }
  const unseeded = tree.hashed && seed === undefined
  const cron = new Cron(tree.fields, { pattern, zone, gap: rule.gap, fold: rule.fold }, { expression, unseeded })
  if (tree.hashed) return cron
  const kept = families.get(family) ?? interning(1000)
  kept.offer(expression, cron)
  families.set(family, kept)
  return cron
}

const ELAPSED = { gap: 'skip', fold: 'both' } as const

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'dst.gap': ['shift', 'skip'],
  'dst.fold': ['first', 'second', 'both'],
  zoneData: ['bundled', 'runtime'],
}

const KNOWN = ['timezone', 'dst', 'seed', 'zoneData']

function checked(options: CronOptions): CronOptions {
  checkKeys(options, KNOWN, '')
  if (options.dst !== undefined) {
    checkKeys(options.dst, ['gap', 'fold'], 'dst.')
    checkChoice('dst.gap', options.dst.gap)
    checkChoice('dst.fold', options.dst.fold)
  }
  checkChoice('zoneData', options.zoneData)
  if (options.seed !== undefined && typeof options.seed !== 'string') {
    throw new EverytickError('OPTION_INVALID', `seed is text, not ${shown(options.seed)}`)
  }
  return options
}

function checkKeys(options: object, known: readonly string[], path: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new EverytickError('OPTION_INVALID', `${path || 'options'} must be an object`)
  }
  for (const key in options) {
    if (known.includes(key)) continue
    const near = didYouMean(key, known)
    const hint = near ? `did you mean ${path}${near}?` : `known are ${known.join(', ')}`
    throw new EverytickError('OPTION_UNKNOWN', `"${path}${key}" is not an option of a cron expression`, { hint })
  }
}

function checkChoice(path: string, value: string | undefined): void {
  const allowed = ALLOWED[path]!
  if (value === undefined || allowed.includes(value)) return
  throw new EverytickError('OPTION_INVALID', `${path} cannot be ${shown(value)}`, {
    hint: `use ${allowed.join(', ')}`,
  })
}
