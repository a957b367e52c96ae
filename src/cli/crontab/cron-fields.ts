/** Writes the timing of a stored schedule as five crontab fields, or returns why that is impossible. */
import { parseCron } from '../../schedule/cron.ts'
import { readCron } from '../../schedule/cron-expression.ts'
import type { Field, Item } from '../../schedule/cron-field.ts'
import { formatDuration, parseDuration } from '../../time/duration.ts'
import { intervalFields } from './interval-fields.ts'

/** The fields of a schedule in REST that decide when it fires. */
export interface StoredTiming {
  readonly cron?: string
  readonly timezone?: string
  readonly every?: string
  readonly at?: string
  readonly any?: readonly unknown[]
  readonly startAt?: string | null
  readonly endAt?: string | null
  readonly exclude?: readonly unknown[]
  readonly maxRuns?: number | null
}

export type Said = { readonly time: string; readonly zone: string } | { readonly reason: string }

export function sayTiming(timing: StoredTiming, { now, seed }: { readonly now: number; readonly seed: string }): Said {
  const bound = boundOf(timing, now)
  if (bound !== null) return { reason: bound }
  const { cron, every, at, timezone = 'UTC' } = timing
  if (every !== undefined) return sayInterval(parseDuration(every))
  if (cron === undefined) return { reason: at === undefined ? 'it has several rules' : `it runs once, at ${at}` }
  const tree = readCron(cron, seed)
  if (tree.kind === 'every') return sayInterval(parseDuration(tree.duration))
  // Parse it with its zone too: do not write an expression that this version cannot read.
  parseCron(cron, { timezone, seed })
  if (tree.kind === 'reboot' || COMMON_MACRO.test(cron.trim())) return { time: cron.trim(), zone: timezone }
  return sayFields(tree.fields, timezone)
}

function boundOf({ startAt, endAt, exclude = [], maxRuns }: StoredTiming, now: number): string | null {
  if (exclude.length > 0) return 'it has exclusions'
  if (endAt) return `it ends at ${endAt}`
  if (startAt && Date.parse(startAt) > now) return `it starts at ${startAt}`
  return maxRuns ? `it ends after ${maxRuns} runs` : null
}

function sayInterval(everyMs: number): Said {
  const time = intervalFields(everyMs)
  if (time !== null) return { time, zone: 'UTC' }
  return { reason: `an interval of ${formatDuration(everyMs)} does not fill an hour, a day or a week evenly` }
}

/** Macros that every cron has; FreeBSD alone knows `@every_minute`. */
const COMMON_MACRO = /^@(?!every_)/

function sayFields(tree: readonly Field[], zone: string): Said {
  const [second, ...fields] = tree.slice(0, 6)
  if (second!.text !== '0') return { reason: 'it has seconds' }
  if (tree.length > 6 && tree[6]!.text !== '*') return { reason: 'it has years' }
  if (fields[4]!.text.startsWith('+') && !/^[*?]$/.test(fields[2]!.text)) return { reason: 'it uses +' }
  const strange = fields.flatMap(({ items }) => items).find(({ kind }) => OURS.has(kind))
  if (strange) return { reason: 'it uses L, W or #' }
  return { time: fields.map(fieldText).join(' '), zone }
}

const OURS: ReadonlySet<Item['kind']> = new Set([
  ...(['last-day', 'last-workday', 'near-workday', 'last-weekday', 'nth-weekday'] as const),
])

/** As written, unless cron interprets it differently. */
const fieldText = ({ text, items }: Field): string =>
  /^[\d*,/a-z-]+$/i.test(text) && items.every(isCommon) ? text : items.map(itemText).join(',')

const isCommon = (item: Item): boolean => item.kind === 'all' || (item.kind === 'range' && !item.open)

function itemText(item: Item): string {
  if (item.kind === 'all') return item.step === 1 ? '*' : `*/${item.step}`
  if (item.kind !== 'range' && item.kind !== 'hash') return ''
  const { from, to, step } = item
  return from === to ? String(from) : `${from}-${to}${step === 1 ? '' : `/${step}`}`
}
