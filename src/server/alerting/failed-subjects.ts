/** Finds the newest permanent failure per schedule, or per job for runs without a schedule, and any later success. */
import type { Alert } from '../../observe/alert.ts'
import { failedJobSubject } from '../../observe/alert-condition.ts'
import type { FactsOf, FailedSubject } from '../../observe/alert-facts.ts'
import { DAY_MS } from '../../schedule/calendar.ts'
import type { UnsuccessfulSubject } from '../../store/contract/monitoring.ts'
import { schedulesOf } from './found-schedules.ts'
import { roundRobin } from './round-robin.ts'
import type { Snapshot } from './snapshot.ts'

/** The most subjects to check for a later success, round-robin over workspaces. */
const MAX_SUBJECTS = 500
/** The number of successful runs to search for the latest end, because they are sorted by creation time. */
const NEWEST = 5

export interface FailedQuestion {
  readonly rule: { readonly workspace: string }
  readonly alerts: readonly Alert[]
}

type Failed = Omit<FailedSubject, 'succeededAt'>

export async function failedSubjects(
  snapshot: Snapshot,
  { rule, alerts }: FailedQuestion,
): Promise<FactsOf<'run_failed'>> {
  const found = (await snapshot.unsuccessful(DAY_MS))
    .filter(({ workspace }) => rule.workspace === '' || workspace === rule.workspace)
    .flatMap(failureOf)
  // Subjects with an alert come first, so that newer failures of others do not resolve their alerts.
  const known = new Map((await failuresOf(snapshot, alerts)).map((each) => [subjectOf(each), each]))
  const fresh = new Map(found.map((each) => [subjectOf(each), each]))
  const others = [...fresh].filter(([subject]) => !known.has(subject)).map(([, each]) => each)
  const all = [
    ...new Map([...known, ...[...fresh].filter(([subject]) => known.has(subject))]).values(),
    ...roundRobin(others, ({ workspace }) => workspace).slice(0, MAX_SUBJECTS),
  ]
  const schedules = all.flatMap(({ schedule }) => schedule?.id ?? [])
  const successes = await snapshot.store.monitoring.successes(schedules)
  const failed: FailedSubject[] = []
  for (const each of all) {
    const succeededAt = each.schedule ? successes.get(each.schedule.id)?.at : await jobSucceededAt(snapshot, each)
    failed.push({ ...each, succeededAt: succeededAt ?? null })
  }
  return { failed }
}

const subjectOf = ({ workspace, job, schedule }: Pick<Failed, 'workspace' | 'job' | 'schedule'>): string =>
  schedule ? `schedule ${schedule.id}` : failedJobSubject(workspace, job)

function failureOf({ workspace, job, schedule, lastFailure }: UnsuccessfulSubject): Failed[] {
  if (lastFailure === null) return []
  const { runId, at: failedAt, error } = lastFailure
  return [{ workspace, job, schedule, runId, failedAt, error: error && `${error.name}: ${error.message}` }]
}

/** The failures that existing alerts describe, without those of removed schedules. */
async function failuresOf(snapshot: Snapshot, alerts: readonly Alert[]): Promise<Failed[]> {
  const schedules = new Map((await schedulesOf(snapshot, alerts)).map((each) => [`schedule ${each.id}`, each]))
  return alerts.flatMap(({ subject, workspace, values }) => {
    const schedule = schedules.get(subject)
    if (!schedule && subject.startsWith('schedule ')) return []
    const failedAt = Date.parse(String(values.failedAt))
    if (Number.isNaN(failedAt)) return []
    const error = values.error === null ? null : String(values.error)
    const ref = schedule ? { id: schedule.id, key: schedule.key } : null
    return [{ workspace, job: String(values.job), schedule: ref, runId: String(values.run), failedAt, error }]
  })
}

async function jobSucceededAt(
  snapshot: Snapshot,
  { workspace, job }: Pick<Failed, 'workspace' | 'job'>,
): Promise<number | undefined> {
  const { runs } = await snapshot.store.history.find(
    { workspace, job, states: ['succeeded'] },
    { limit: NEWEST, omit: ['payload', 'result'] },
  )
  const ends = runs.flatMap(({ finishedAt }) => finishedAt ?? [])
  return ends.length === 0 ? undefined : Math.max(...ends)
}
