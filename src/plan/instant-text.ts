/** Writes instants, distances and runs as sentences about occurrences need them; the command line has its own way. */
import type { Run } from '../run/run.ts'
import type { TimingRule } from '../schedule/schedule.ts'
import { segmentAt, timeZone } from '../schedule/time-zone.ts'
import { clockText, dateText } from '../schedule/wall-text.ts'
import { formatDuration } from '../time/duration.ts'

/** The zones whose wall clocks a timing goes by, without doubles; none for intervals and single instants. */
export function zonesOf(rule: TimingRule): string[] {
  if (rule.kind === 'any') return [...new Set(rule.of.flatMap(zonesOf))]
  return rule.kind === 'cron' ? [rule.timezone] : []
}

/** `2026-11-14T01:30:00Z`; milliseconds appear only where there are some. */
export const utcText = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z')

/** `2026-11-14 02:30 Europe/Berlin (2026-11-14T01:30:00Z)`, by the wall of the first zone; in UTC alone where there is none. */
export function instantText(at: number, rule: TimingRule): string {
  const [name] = zonesOf(rule)
  if (name === undefined || name === 'UTC') return utcText(at)
  const zone = timeZone(name)
  const wall = at + zone.offset[segmentAt(zone, at)]!
  return `${dateText(wall)} ${clockText(wall)} ${name} (${utcText(at)})`
}

const MINUTE_MS = 60_000

/** Whole seconds from a minute on: nobody reads the rest. */
export function elapsedText(ms: number): string {
  if (ms <= 0) return '0s'
  return formatDuration(ms < MINUTE_MS ? Math.round(ms) : Math.floor(ms / 1000) * 1000)
}

export const nameOf = ({ id }: Pick<Run, 'id'>): string => `run ${id}`
