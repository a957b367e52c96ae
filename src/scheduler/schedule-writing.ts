/** Decides what a new, changed or resumed schedule is written as: its definition, its first occurrence, what a pause passed over. */

import { readWork } from '../job.ts'
import { pausedRange } from '../plan/non-run.ts'
import { type Schedule, type ScheduleDefinition, seedOf, timingOf } from '../schedule/schedule.ts'
import { type DeclaredSchedule, jobOf, scheduleName } from '../schedule-definition.ts'
import type { Executor } from '../store/contract/executor.ts'
import type { PutAnswer, Resume } from '../store/contract/schedules.ts'
import type { Core } from './core.ts'
import { storablePayload } from './payload.ts'

type Source = ScheduleDefinition['source']

/** Refused here, before anything is written, when the job is unknown or its schema does not take the payload. */
export async function definitionOf(
  core: Core,
  declared: DeclaredSchedule,
  source: Source,
): Promise<ScheduleDefinition> {
  const { workspace, key, timing, catchUp, about, work, payload } = declared
  const of = scheduleName(declared)
  const job = jobOf(declared.job, core.settings.jobs, of)
  return {
    workspace,
    key,
    timing,
    job: job.name,
    payload: await storablePayload(job.schema, payload, `${of} → job "${job.name}"`),
    ...readWork(work, of, job),
    catchUp,
    ...about,
    source,
  }
}

export async function putSchedules(
  core: Core,
  definitions: readonly ScheduleDefinition[],
  tx?: Executor,
): Promise<{ readonly answers: readonly PutAnswer[]; readonly now: number }> {
  const store = await core.store()
  const now = await store.now()
  const puts = definitions.map((definition) => {
    const { timing } = definition
    // A single instant is an occurrence even when it has passed: the catch-up policy says what becomes of it.
    const watermarkAt = timing.kind === 'once' ? Math.min(now, timing.at - 1) : now
    return {
      id: core.newId(),
      definition,
      nextAt: timingOf(timing, seedOf(definition)).nextAt(watermarkAt),
      watermarkAt,
    }
  })
  return { answers: await store.schedules.put(puts, tx), now }
}

const MAX_TRIES = 10

/** Somebody may change the schedule between the look and the write; the store then refuses, and we look again. */
export async function resumeSchedule(core: Core, look: () => Promise<Schedule>, tx?: Executor): Promise<boolean> {
  const store = await core.store()
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const schedule = await look()
    if (schedule.pause === null) return false
    const change = resumption(schedule, await store.now())
    if (await store.schedules.resume(schedule.workspace, schedule.key, change, tx)) return true
  }
  return false
}

/** Every occurrence that the pause kept from running is accounted for, as one range. */
export function resumption(schedule: Schedule, now: number): Resume {
  const { revision, watermarkAt } = schedule
  const timing = timingOf(schedule.timing, seedOf(schedule))
  return {
    revision,
    nextAt: timing.nextAt(Math.max(now, watermarkAt)),
    watermarkAt: Math.max(now, watermarkAt),
    nonRuns: pausedRange(timing, watermarkAt, now),
  }
}
