/** HTTP handler of the preview, with the scheduler's own comparison, after the access check. */
import { type DeclaredSchedule, readSchedule, type ScheduleOptions } from '../../schedule-definition.ts'
import { preview } from '../../scheduler/preview.ts'
import { inSteps } from '../../time/in-steps.ts'
import type { Steps } from '../../time/steps.ts'
import * as contract from '../contract/preview.ts'
import type { Parts } from '../parts.ts'
import { home } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'
import { shows } from '../shown.ts'

export function previewRoutes(parts: Parts): readonly Route[] {
  const shown = shows(parts)
  return [
    route(contract.previewSchedules, async ({ body, principal, budget }) => {
      const given = body.schedules.map((each) => ({ ...each, workspace: home(principal, each.workspace) }))
      const declared = await inSteps(reading(given as unknown as ScheduleOptions[]))
      const found = await preview(parts.core, declared, budget)
      return ok({ data: found.map((each, i) => shown.preview(each, body.schedules[i]!.job, { principal })) })
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
