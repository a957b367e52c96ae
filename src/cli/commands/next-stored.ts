/** `everytick next <schedule>`: the coming occurrences of a schedule that is stored, with its jitter. */
import { type TimeZone, timeZone } from '../../schedule/time-zone.ts'
import { systemClock } from '../../time/clock.ts'
import type { BackendOptions } from '../backend.ts'
import { distanceText, nominalTexts, utcText } from '../instant-text.ts'
import { withBackend } from '../io.ts'
import { jsonText, rowsText, type View } from '../print.ts'
import { storedSchedule } from '../stored-schedule.ts'
import { readFrom } from '../timing-input.ts'
import { UsageError } from '../usage-error.ts'
import { type NextOptions, readCount } from './next.ts'

export type StoredNextOptions = NextOptions & BackendOptions

interface Occurrence {
  readonly scheduledAt: string
  readonly dueAt: string
}

/** What its definition decides. */
const OWN = ['gap', 'fold', 'seed'] as const

export async function nextStored(name: string, options: StoredNextOptions, view: View): Promise<string> {
  const own = OWN.find((option) => options[option] !== undefined)
  if (own) throw new UsageError(`--${own} is for expressions`, { hint: `${name} has its own`, code: 'OPTION_INVALID' })
  const count = readCount(options.count)
  const from = readFrom(options.from)
  // The server's clock decides when nobody says from when on; ours is only for the distance.
  const query = { n: count, from: options.from === undefined ? undefined : utcText(from) }
  const { schedule, data } = await withBackend(options, async (backend) => {
    const found = await storedSchedule(backend, name)
    const next = await backend.ask<{ data: Occurrence[] }>('GET', `/schedules/${found.id}/next`, { query })
    return { schedule: found, data: next.data }
  })
  if (options.json) return `${jsonText(data)}\n`
  const zone = timeZone(options.tz ?? schedule.timezone ?? 'UTC')
  return occurrencesText(data, { zone, from, now: systemClock.now(), given: options.from !== undefined }, view)
}

interface Shown {
  readonly zone: TimeZone
  readonly from: number
  readonly now: number
  /** Whether somebody said from when on: then distances count from there. */
  readonly given: boolean
}

/** The due instant has a column of its own only where it is later than the nominal one. */
export function occurrencesText(data: readonly Occurrence[], { zone, from, now, given }: Shown, view: View): string {
  const nominal = data.map(({ scheduledAt }) => Date.parse(scheduledAt))
  const due = data.map(({ dueAt }) => Date.parse(dueAt))
  const walls = nominalTexts(nominal, zone)
  const later = due.some((at, i) => at !== nominal[i])
  const start = given ? from : now
  const rows = walls.map((wall, i) => [
    wall,
    ...(later ? [`+${distanceText(due[i]! - nominal[i]!)}`] : []),
    ...[utcText(due[i]!), distanceText(Math.max(0, due[i]! - start))],
  ])
  return rowsText([`NOMINAL (${zone.name})`, ...(later ? ['DUE'] : []), 'UTC', 'IN'], rows, view)
}
