/** Turns declared schedules into stored definitions, with the defaults of their jobs, and validates their payloads. */
import type { Job } from '../job.ts'
import type { Json } from '../json.ts'
import type { FiringPolicy, ScheduleDefinition } from '../schedule/schedule.ts'
import { type DeclaredSchedule, jobOf, scheduleName, workOf } from '../schedule-definition.ts'
import type { Core } from './core.ts'
import { storablePayload } from './payload.ts'

type Source = ScheduleDefinition['source']

/** Throws when a job is unknown or its schema rejects the payload. */
export async function definitionsOf(
  core: Core,
  declared: readonly DeclaredSchedule[],
  source: Source,
): Promise<ScheduleDefinition[]> {
  const jobs = declared.map((each) => jobOf(each.job, core.settings.jobs, scheduleName(each)))
  const asked = declared.map((each, i) => payloadOf(each, jobs[i]!))
  // Without payloads there is nothing to await.
  const payloads = asked.every((payload) => payload === null) ? null : await Promise.all(asked)
  return declared.map((each, i) => {
    const job = jobs[i]!
    const { workspace, key, timing, catchUp, firing, about } = each
    const { queue, priority, policy } = workOf(each, job)
    const { description, tags, metadata } = about
    // An object literal instead of spreads, because spread objects are slow to create and to read.
    return {
      workspace,
      key,
      timing,
      job: job.name,
      queue,
      payload: payloads ? payloads[i]! : null,
      priority,
      policy,
      catchUp,
      firing: inGroup(firing, job),
      description,
      tags,
      metadata,
      source,
    }
  })
}

/** `definitionsOf` for one schedule. */
export const definitionOf = async (
  core: Core,
  declared: DeclaredSchedule,
  source: Source,
): Promise<ScheduleDefinition> => (await definitionsOf(core, [declared], source))[0]!

function payloadOf(declared: DeclaredSchedule, job: Job): Promise<Json> | null {
  const { payload } = declared
  if (!job.schema && payload === undefined) return null
  return storablePayload(job.schema, payload, `${scheduleName(declared)} → job "${job.name}"`)
}

const inGroup = (firing: FiringPolicy, { concurrencyKey }: Job): FiringPolicy =>
  firing.concurrencyKey !== null || concurrencyKey === null ? firing : { ...firing, concurrencyKey }
