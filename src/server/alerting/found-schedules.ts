/** Finds schedules for rules, within bounds: by problem, and by existing alert. */
import type { Alert } from '../../observe/alert.ts'
import type { NamedSchedule } from '../../observe/alert-facts.ts'
import type { Schedule } from '../../schedule/schedule.ts'
import type { ScheduleFilter } from '../../store/contract/schedules.ts'
import type { Place } from './memory.ts'
import type { Snapshot } from './snapshot.ts'

/** The most schedules that one scan returns, in total and per workspace: more than a rule may have alerts. */
const MAX_SCHEDULES = 1000
const MAX_OF_ONE = 60
/** The most pages that one scan reads, and the most empty pages; the next scan continues from there. */
const MAX_PAGES = 20
const MAX_EMPTY = 5
/** Sorts after every key of a workspace. */
const LAST_KEY = '\u{10ffff}'
const SUBJECT = 'schedule '

/** The filter that limits a rule to its workspace. */
export const within = ({ workspace }: { readonly workspace: string }): { workspace?: string } =>
  workspace === '' ? {} : { workspace }

export const nameOf = ({ id, workspace, key }: NamedSchedule): NamedSchedule => ({ id, workspace, key })

/** A few schedules per workspace, from where the previous scan ended, so that a large workspace does not crowd out the others. */
export async function findSchedules(snapshot: Snapshot, filter: ScheduleFilter): Promise<Schedule[]> {
  const found = new Map<string, Schedule>()
  const sweep = JSON.stringify(filter)
  let after = snapshot.memory.sweeps.get(sweep)
  const beganAt = after
  let [empty, isPastEnd] = [0, false]
  for (let i = 0; i < MAX_PAGES && empty < MAX_EMPTY && found.size < MAX_SCHEDULES; i++) {
    const page = await snapshot.store.schedules.find(filter, {
      limit: MAX_OF_ONE,
      omitPayload: true,
      ...(after ? { after } : {}),
    })
    const before = found.size
    for (const each of page.schedules) found.set(each.id, each)
    empty = found.size === before ? empty + 1 : 0
    after = page.next ? behind(page.next, page.schedules) : undefined
    if (!page.next) {
      // Everything after the start position was scanned; wrap around to the rest.
      if (isPastEnd || beganAt === undefined) break
      isPastEnd = true
    }
  }
  if (after) snapshot.memory.sweeps.set(sweep, after)
  else snapshot.memory.sweeps.delete(sweep)
  return [...found.values()]
}

/** Skips the rest of a workspace that fills a page. */
function behind(next: Place, page: readonly Schedule[]): Place {
  const fills = page.length === MAX_OF_ONE && page[0]!.workspace === next.workspace
  return fills ? { workspace: next.workspace, key: LAST_KEY } : next
}

/** The current state of schedules with an alert, without removed ones. */
export async function schedulesOf(snapshot: Snapshot, alerts: readonly Alert[]): Promise<Schedule[]> {
  const ids = alerts.flatMap(({ subject }) => (subject.startsWith(SUBJECT) ? [subject.slice(SUBJECT.length)] : []))
  return (await Promise.all(ids.map((id) => snapshot.store.schedules.byId(id)))).filter((each) => each !== null)
}
