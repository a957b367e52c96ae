/** Says what storing schedules would change, by the scheduler's own comparison; whose they are decides first. */
import { readSchedule, type ScheduleOptions } from '../../schedule-definition.ts'
import { rehearse } from '../../scheduler/rehearsal.ts'
import * as contract from '../contract/rehearse.ts'
import type { Parts } from '../parts.ts'
import { home } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'
import { shows } from '../shown.ts'

export function rehearseRoutes(parts: Parts): readonly Route[] {
  const shown = shows(parts)
  return [
    route(contract.rehearseSchedules, async ({ body, principal }) => {
      const declared = body.schedules.map((each) =>
        readSchedule({ ...each, workspace: home(principal, each.workspace) } as unknown as ScheduleOptions),
      )
      const found = await rehearse(parts.core, declared)
      return ok({ data: found.map((each, i) => shown.preview(each, body.schedules[i]!.job, { principal })) })
    }),
  ]
}
