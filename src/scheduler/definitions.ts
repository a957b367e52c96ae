/** Turns declared schedules into the definitions that are stored, with what their jobs say; refuses them before anything is written. */
import type { Job } from '../job.ts'
import type { Json } from '../json.ts'
import type { FiringPolicy, ScheduleDefinition } from '../schedule/schedule.ts'
import { type DeclaredSchedule, jobOf, scheduleName, workOf } from '../schedule-definition.ts'
import type { Core } from './core.ts'
import { storablePayload } from './payload.ts'

type Source = ScheduleDefinition['source']

/** Refused when a job is unknown or its schema does not take the payload. */
export async function definitionsOf(
  core: Core,
  declared: readonly DeclaredSchedule[],
  source: Source,
): Promise<ScheduleDefinition[]> {
  const jobs = declared.map((each) => jobOf(each.job, core.settings.jobs, scheduleName(each)))
  const asked = declared.map((each, i) => payloadOf(each, jobs[i]!))
  // Whatever has no payload has nothing to wait for.
  const payloads = asked.every((payload) => payload === null) ? null : await Promise.all(asked)
  return declared.map((each, i) => {
    const job = jobs[i]!
    const { workspace, key, timing, catchUp, firing, about } = each
    const { queue, priority, policy } = workOf(each, job)
    const { description, tags, metadata } = about
    // Written out, because objects that are put together of parts are slow to make and slow to read.
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

/** The same for one. */
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
