/** A cron expression as a timing: joins the syntax tree, the zone and the clock-change rule; each of those is a file of its own. */
import { didYouMean } from '../did-you-mean.ts'
import { EverytickError, shown } from '../errors.ts'
import { type Clockwork, countInstants, type Fold, type Gap, nextInstant, prevInstant } from './clock-change.ts'
import { fieldValues } from './cron-bits.ts'
import { readCron } from './cron-expression.ts'
import type { Field, FieldName } from './cron-field.ts'
import { cronWarnings } from './cron-warnings.ts'
import { choosesEveryMonth } from './day-mask.ts'
import { describeCron } from './describe.ts'
import { type Interning, interning } from './interning.ts'
import { every, type Interval } from './interval.ts'
import { Reboot } from './reboot.ts'
import { timeZone, type ZoneSource } from './time-zone.ts'
import { type FieldView, Timing, type Warning } from './timing.ts'
import { wallPattern } from './wall-pattern.ts'

export interface CronOptions {
  /** An IANA name; UTC when absent. */
  readonly timezone?: string
  /** For days on which the clock changes; an expression with `*` in its hour field follows real time all the same. */
  readonly dst?: { readonly gap?: Gap; readonly fold?: Fold }
  /** What `H` is derived from, such as `workspace/key`. */
  readonly seed?: string
  /** The zone table that ships with Everytick, or the runtime's own. */
  readonly zoneData?: ZoneSource
}

type CronFields = Readonly<Record<Exclude<FieldName, 'year'>, FieldView>> & { readonly year?: FieldView }

export class Cron extends Timing {
  readonly kind = 'cron'
  readonly expression: string
  readonly timezone: string
  /** The clock-change rules in force: those of `dst`, else what the fields ask for. */
  readonly gap: Gap
  readonly fold: Fold
  /** Whether every chosen month has an occurrence for sure. */
  readonly everyMonth: boolean
  readonly #tree: readonly Field[]
  readonly #clockwork: Clockwork
  readonly #unseeded: boolean

  constructor(tree: readonly Field[], clockwork: Clockwork, facts: { expression: string; unseeded: boolean }) {
    super()
    this.expression = facts.expression
    this.timezone = clockwork.zone.name
    this.gap = clockwork.gap
    this.fold = clockwork.fold
    this.everyMonth = clockwork.pattern.years === null && choosesEveryMonth(tree[3]!, tree[5]!)
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

  /** The year only where one was written. */
  override get fields(): CronFields {
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
    return cronWarnings(this.#tree, this.#clockwork, { from, unseeded: this.#unseeded })
  }
}

/**
 * A `*` in the hour means "keep going": time is followed as it passes, and `dst` has no say. Any other hour names times of
 * the day, none of which is lost in a gap; where second or minute contain a `*`, both passes of a repeated hour run.
 */
function clockRules(tree: readonly Field[], dst: CronOptions['dst']): { readonly gap: Gap; readonly fold: Fold } {
  const [second, minute, hour] = tree
  if (hour!.wild) return { gap: 'skip', fold: 'both' }
  return { gap: dst?.gap ?? 'shift', fold: dst?.fold ?? (second!.wild || minute!.wild ? 'both' : 'first') }
}

/**
 * Distinct pairs of expression and zone are few and immutable, so a million schedules share them. The usual rule is kept
 * by the zone's own text: hashing a new text costs more than the rest of a hit.
 */
const byZone = new Map<string, Interning<Cron>>()
const byZoneAndRule = new Map<string, Interning<Cron>>()

/** Reads an expression, also one that never fires: whether it may be saved is `never.ts`. */
export function parseCron(expression: string, options: CronOptions = {}): Cron | Interval | Reboot {
  const { timezone = 'UTC', dst, seed, zoneData } = checked(options)
  const usual = dst === undefined && zoneData === undefined
  const families = usual ? byZone : byZoneAndRule
  const family = usual ? timezone : `${dst?.gap} ${dst?.fold} ${zoneData} ${timezone}`
  const known = families.get(family)?.get(expression)
  if (known) return known
  const tree = readCron(expression, seed ?? '')
  const zone = timeZone(timezone, zoneData)
  if (tree.kind === 'every') return every(tree.duration)
  if (tree.kind === 'reboot') return new Reboot()
  const { gap, fold } = clockRules(tree.fields, dst)
  const unseeded = tree.hashed && seed === undefined
  const clockwork = { pattern: wallPattern(tree.fields), zone, gap, fold }
  const cron = new Cron(tree.fields, clockwork, { expression, unseeded })
  if (tree.hashed) return cron
  const kept = families.get(family) ?? interning(1000)
  kept.offer(expression, cron)
  families.set(family, kept)
  return cron
}

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
    throw new EverytickError('OPTION_INVALID', `seed must be a string, not ${shown(options.seed)}`)
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
