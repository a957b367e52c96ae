/** `everytick schedules ls` and `get`: schedules with their state and their last runs. */
import { systemClock } from '../../time/clock.ts'
import type { CommandContext } from '../command-context.ts'
import { detailsText } from '../details.ts'
import { distanceText } from '../instant-text.ts'
import { fieldsText, includeOf, type ListOptions, limitOf, listed } from '../listing.ts'
import { rowsText, type View } from '../print.ts'
import { readFilters, SCHEDULE_FILTERS, scheduleQuery } from '../query-filters.ts'
import { readScheduleName, schedulePath } from '../schedule-name.ts'
import { shortCell, timeCell } from '../time-cell.ts'

/** The fields of a schedule that these commands read. */
export interface ScheduleBody {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly when: string | null
  readonly revision: number
  readonly nextFireAt: string | null
  readonly paused: { readonly by: string; readonly at: string; readonly reason: string } | null
  readonly quarantined: { readonly code: string } | null
  readonly last?: readonly { readonly state: string }[]
  readonly warnings?: readonly { readonly text: string }[]
  readonly [field: string]: unknown
}

const HEADING = ['KEY', 'WORKSPACE', 'WHEN', 'NEXT', 'LAST 10', 'STATE']
const LAST = 10
/** Skips runs planned ahead, which come first and have not ended. */
const SCANNED = 20
const MAX_WHEN = 44

export async function listSchedules(
  { backend, io, view }: CommandContext,
  words: readonly string[],
  options: ListOptions,
): Promise<string> {
  const query = {
    ...scheduleQuery(readFilters(words, SCHEDULE_FILTERS)),
    last: SCANNED,
    ...includeOf(options.json, ['payload']),
  }
  const { items, hasMore } = await listed<ScheduleBody>(backend, '/schedules', { query, limit: limitOf(options) })
  if (hasMore) io.note('there are more: use --limit or --all\n')
  if (options.json) return fieldsText(items, options.json)
  if (items.length === 0) io.note('no matching schedules\n')
  const now = systemClock.now()
  return items.length === 0
    ? ''
    : rowsText(
        HEADING,
        items.map((each) => rowOf(each, now, view)),
        view,
      )
}

export function rowOf(schedule: ScheduleBody, now: number, view: View): string[] {
  const { key, workspace, when, nextFireAt, last = [] } = schedule
  return [
    key,
    workspace === 'default' && view.terminal ? '-' : workspace,
    shortCell((when ?? '?').replace(/\.$/, ''), MAX_WHEN, view),
    timeCell(nextFireAt, now, view),
    lastText(last.map(({ state }) => state)),
    stateText(schedule, now, view),
  ]
}

const MARKS: Readonly<Record<string, string>> = { succeeded: '▮', failed: '✗', running: '·' }

/** Oldest first, although states come newest first. A dot is a run in flight, or no run. */
export const lastText = (states: readonly string[]): string =>
  states
    .filter((state) => state !== 'pending')
    .slice(0, LAST)
    .map((state) => MARKS[state] ?? '▯')
    .reverse()
    .join('')
    .padEnd(LAST, '·')

export function stateText({ paused, quarantined, nextFireAt }: ScheduleBody, now: number, view: View): string {
  if (quarantined) return view.terminal ? `quarantined: ${quarantined.code}` : 'quarantined'
  if (!paused) return nextFireAt === null ? 'ended' : 'active'
  if (!view.terminal) return 'paused'
  const { by, at, reason } = paused
  const since = distanceText(Math.max(0, now - Date.parse(at)))
  return `paused ${since} by ${by}${reason === '' ? '' : `: ${shortCell(reason, 40, view)}`}`
}

export async function getSchedule(
  { backend, view }: CommandContext,
  name: string,
  { json }: { readonly json?: boolean | string },
): Promise<string> {
  const found = await backend.ask<ScheduleBody>('GET', schedulePath(readScheduleName(name)))
  return json ? fieldsText(found, json) : detailsText(found, view)
}
