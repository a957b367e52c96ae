/** Finds schedules for rules, within bounds: by what is wrong with them, and by the alerts there are about them. */
import type { Alert } from '../../observe/alert.ts'
import type { NamedSchedule } from '../../observe/alert-facts.ts'
import type { Schedule } from '../../schedule/schedule.ts'
import type { ScheduleFilter } from '../../store/contract/schedules.ts'
import type { Look } from './look.ts'

/** Schedules that one look finds at most; more than a rule has alerts. */
const MAX_SCHEDULES = 200
/** Looks that may find nothing before the next page. */
const MAX_LOOKS = 5
const SUBJECT = 'schedule '

/** The part of a filter that keeps a rule to its workspace. */
export const within = ({ workspace }: { readonly workspace: string }): { workspace?: string } =>
  workspace === '' ? {} : { workspace }

export const nameOf = ({ id, workspace, key }: NamedSchedule): NamedSchedule => ({ id, workspace, key })

export async function findSchedules(look: Look, filter: ScheduleFilter, max = MAX_SCHEDULES): Promise<Schedule[]> {
  const found: Schedule[] = []
  let after: { readonly workspace: string; readonly key: string } | undefined
  for (let i = 0; i < MAX_LOOKS && found.length < max; i++) {
    const page = await look.store.schedules.find(filter, { limit: max, omitPayload: true, ...(after ? { after } : {}) })
    found.push(...page.schedules)
    if (!page.next) break
    after = page.next
  }
  return found.slice(0, max)
}

/** The schedules that alerts are about, as they are now, without those that are gone. */
export async function schedulesOf(look: Look, alerts: readonly Alert[]): Promise<Schedule[]> {
  const ids = alerts.flatMap(({ subject }) => (subject.startsWith(SUBJECT) ? [subject.slice(SUBJECT.length)] : []))
  return (await Promise.all(ids.map((id) => look.store.schedules.byId(id)))).filter((each) => each !== null)
}
