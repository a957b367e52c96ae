/** Says what storing schedules would change, by the scheduler's own comparison; whose they are decides first. */
import { type DeclaredSchedule, readSchedule, type ScheduleOptions } from '../../schedule-definition.ts'
import { type Rehearsal, rehearse } from '../../scheduler/rehearsal.ts'
import type { ScheduleWords } from '../../scheduler/schedule-words.ts'
import { inSteps } from '../../time/in-steps.ts'
import type { Steps } from '../../time/steps.ts'
import * as contract from '../contract/rehearse.ts'
import type { Parts } from '../parts.ts'
import { home } from '../principal.ts'
import { redacted } from '../redact.ts'
import { ok, type Route, route } from '../route.ts'

export function rehearseRoutes({ core }: Parts): readonly Route[] {
  /** Without what its job calls secret, as everywhere. */
  const veiled = (words: Partial<ScheduleWords> | undefined, job: string): Partial<ScheduleWords> | null => {
    if (words === undefined) return null
    const paths = core.settings.ownJobs.get(job)?.redact ?? []
    return words.payload === undefined ? words : { ...words, payload: redacted(words.payload, paths) }
  }
  const bodyOf = ({ workspace, key, action, nextFireAt, before, after, paused }: Rehearsal, job: string) => ({
    ...{ workspace, key, action, nextFireAt },
    before: veiled(before, before?.job ?? job),
    after: veiled(after, job),
    paused: paused ?? null,
  })

  return [
    route(contract.rehearseSchedules, async ({ body, principal, budget }) => {
      const given = body.schedules.map((each) => ({ ...each, workspace: home(principal, each.workspace) }))
      const declared = await inSteps(reading(given as unknown as ScheduleOptions[]))
      const found = await rehearse(core, declared, budget)
      return ok({ data: found.map((each, i) => bodyOf(each, body.schedules[i]!.job)) })
    }),
  ]
}

function* reading(given: readonly ScheduleOptions[]): Steps<DeclaredSchedule[]> {
  const declared: DeclaredSchedule[] = []
  for (const each of given) {
    yield
    declared.push(readSchedule(each))
  }
  return declared
}
