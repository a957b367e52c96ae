/** `everytick next <schedule>`: the next occurrences of a stored schedule, with its jitter. */
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

/** Options that the definition of the schedule sets. */
const OWN = ['gap', 'fold', 'seed'] as const

export async function nextStored(name: string, options: StoredNextOptions, view: View): Promise<string> {
  const own = OWN.find((option) => options[option] !== undefined)
  if (own)
    throw new UsageError(`--${own} is only for expressions`, {
      hint: `leave it out: ${name} defines its own`,
      code: 'OPTION_INVALID',
    })
  const count = readCount(options.count)
  const from = readFrom(options.from)
  // Without --from, the server's clock is the start; our clock is only for the IN column.
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
  /** Whether --from is given: distances count from there. */
  readonly given: boolean
}

/** The DUE column appears only if jitter makes an occurrence due later than its nominal instant. */
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
