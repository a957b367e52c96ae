/** Parses an alert rule from its API form, with defaults and validation, and formats it back. */
import { didYouMean } from '../did-you-mean.ts'
import { EverytickError, shown } from '../errors.ts'
import type { Json } from '../json.ts'
import { formatDuration, parseDuration } from '../time/duration.ts'
import {
  type AlertRule,
  defaultRuleId,
  kindOfDefault,
  RULE_KIND_NAMES,
  RULE_KINDS,
  type RuleKind,
  SEVERITIES,
  type SettingSpec,
} from './alert-rule.ts'

/** The workspace of the rule; the empty text for the whole fleet. */
export interface RulePlace {
  readonly id: string
  readonly workspace: string
}

const FIELDS = ['kind', 'name', 'enabled', 'severity', 'channels', 'resolveAfter', 'settings'] as const
const RESOLVE_AFTER: SettingSpec = { type: 'duration', default: '2m', min: '0s', max: '7d' }
const MAX_CHANNELS = 50

export function readRule({ id, workspace }: RulePlace, given: unknown): AlertRule {
  const rule = record(given, 'a rule', FIELDS)
  const kind = choice(rule.kind, 'kind', RULE_KIND_NAMES)
  const spec = RULE_KINDS[kind]
  const expected = kindOfDefault(id)
  if (expected !== undefined && expected !== kind)
    throw refused(`the rule ${id} is of kind ${expected}, not ${kind}`, 'choose another id')
  if (spec.fleetOnly && workspace !== '')
    throw refused(`a rule of kind ${kind} is about the whole fleet, not about a workspace`, 'leave out workspace')
  return {
    id,
    kind,
    workspace,
    name: rule.name === undefined ? spec.name : name(rule.name, 'name'),
    enabled: rule.enabled === undefined ? true : truth(rule.enabled, 'enabled'),
    severity: rule.severity === undefined ? spec.severity : choice(rule.severity, 'severity', SEVERITIES),
    channels: rule.channels === undefined || rule.channels === null ? null : channels(rule.channels),
    resolveAfterMs: value(rule.resolveAfter, 'resolveAfter', RESOLVE_AFTER) as number,
    settings: readSettings(kind, rule.settings ?? {}, workspace),
    // The table of each kind has parsed its settings, which the type system cannot follow.
  } as AlertRule
}

/** The default rule of a kind. */
export const defaultRule = (kind: RuleKind): AlertRule => readRule({ id: defaultRuleId(kind), workspace: '' }, { kind })

/** The API form with all defaults filled in; `readRule` parses it back to the same rule. */
export function writtenRule(rule: AlertRule): { readonly [field: string]: Json } {
  const { kind, name, enabled, severity, channels, resolveAfterMs } = rule
  const inside = rule.settings as Readonly<Record<string, Json>>
  const settings: Record<string, Json> = {}
  for (const [key, { type }] of Object.entries(RULE_KINDS[kind].settings)) {
    const found = inside[insideName(key, type)]
    if (found !== undefined) settings[key] = type === 'duration' ? formatDuration(found as number) : found
  }
  return { kind, name, enabled, severity, channels, resolveAfter: formatDuration(resolveAfterMs), settings }
}

function readSettings(kind: RuleKind, given: unknown, workspace: string): Record<string, unknown> {
  const specs = RULE_KINDS[kind].settings
  const found = record(given, `the settings of ${kind}`, Object.keys(specs))
  const read: Record<string, unknown> = {}
  for (const [key, spec] of Object.entries(specs)) {
    const one = value(found[key], `settings.${key}`, spec)
    if (one !== undefined) read[insideName(key, spec.type)] = one
  }
  if (read.job !== undefined && read.queue !== undefined) throw refused('a rule names a job or a queue, not both')
  if (workspace !== '' && (read.job ?? read.queue) !== undefined)
    throw refused('a rule of a workspace cannot name a job or a queue', 'leave out one of them')
  return read
}

const insideName = (key: string, type: SettingSpec['type']): string => (type === 'duration' ? `${key}Ms` : key)

function value(given: unknown, what: string, spec: SettingSpec): number | string | undefined {
  const wanted = given ?? spec.default
  switch (spec.type) {
    case 'name':
      return wanted === null ? undefined : name(wanted, what)
    case 'duration': {
      const ms = parseDuration(wanted as string)
      if (ms >= parseDuration(spec.min) && ms <= parseDuration(spec.max)) return ms
      throw refused(`${what} is ${shown(wanted)}`, `use ${spec.min} to ${spec.max}`)
    }
    default: {
      const fits = spec.type === 'count' ? Number.isInteger(wanted) : Number.isFinite(wanted)
      if (fits && (wanted as number) >= spec.min && (wanted as number) <= spec.max) return wanted as number
      const number = spec.type === 'count' ? 'a whole number' : 'a number'
      throw refused(`${what} is ${number} from ${spec.min} to ${spec.max}, not ${shown(wanted)}`)
    }
  }
}

function channels(given: unknown): readonly string[] {
  if (!Array.isArray(given)) throw refused(`channels is a list, not ${shown(given)}`)
  if (given.length > MAX_CHANNELS) throw refused(`channels has ${given.length} entries`, `use at most ${MAX_CHANNELS}`)
  return [...new Set(given.map((each) => name(each, 'the id of a channel')))]
}

function record(given: unknown, what: string, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw refused(`${what} is an object, not ${shown(given)}`)
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue
    const near = didYouMean(key, known)
    const all = known.length === 0 ? 'it has no settings' : `known are ${known.join(', ')}`
    const hint = near ? `did you mean ${near}?` : all
    throw new EverytickError('OPTION_UNKNOWN', `"${key.slice(0, 60)}" is not an option of ${what}`, { hint })
  }
  return given as Record<string, unknown>
}

function choice<Choice extends string>(given: unknown, what: string, allowed: readonly Choice[]): Choice {
  const found = allowed.find((each) => each === given)
  if (found !== undefined) return found
  const near = typeof given === 'string' ? didYouMean(given, allowed) : undefined
  throw refused(`${what} cannot be ${shown(given)}`, near ? `did you mean ${near}?` : `use ${allowed.join(', ')}`)
}

function name(given: unknown, what: string): string {
  // Control characters and lone surrogates survive neither a log line nor a database.
  if (typeof given === 'string' && /^[^\p{Cc}\p{Surrogate}]{1,200}$/u.test(given)) return given
  throw refused(`${what} cannot be ${shown(given)}`, 'use 1 to 200 plain characters')
}

function truth(given: unknown, what: string): boolean {
  if (typeof given === 'boolean') return given
  throw refused(`${what} is true or false, not ${shown(given)}`)
}

const refused = (message: string, hint?: string): EverytickError =>
  new EverytickError('OPTION_INVALID', message, hint === undefined ? {} : { hint })
