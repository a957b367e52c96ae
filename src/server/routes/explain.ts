/** HTTP handler that explains an unsaved timing, with the time engine of the scheduler. */
import { readInstantOption } from '../../options.ts'
import { DAY_MS } from '../../schedule/calendar.ts'
import { jitterMs } from '../../schedule/jitter.ts'
import { seedOf, timingOf } from '../../schedule/schedule.ts'
import { findingRuns } from '../../schedule/search.ts'
import { slotsOf } from '../../schedule/slots.ts'
import { readFiring } from '../../scheduler/read-firing.ts'
import { readTiming, type When } from '../../scheduler/read-timing.ts'
import { inSteps } from '../../time/in-steps.ts'
import * as contract from '../contract/explain.ts'
import type { Parts } from '../parts.ts'
import { ok, type Route, route } from '../route.ts'
import { firesIn, warningsOf } from '../warnings.ts'

const YEAR_MS = 365 * DAY_MS

export function explainRoutes({ core }: Parts): readonly Route[] {
  return [
    route(contract.explainTiming, async ({ body, budget }) => {
      const { n = 5, from, jitter, key = 'explained', workspace = 'default', ...when } = body
      const seed = seedOf({ workspace, key })
      const spec = readTiming(when as unknown as When, 'the timing', seed)
      const firing = readFiring(jitter === undefined ? {} : ({ jitter } as { jitter: string }), 'the timing', spec)
      const fromAt = from === undefined ? await (await core.store()).now() : readInstantOption(from, 'from')
      const timing = timingOf(spec, seed)
      const slots = slotsOf(spec, seed)
      const found = await inSteps(findingRuns(slots, { afterAt: fromAt, count: n }, budget))
      const next = found.map((at) => {
        const late = jitterMs(firing.jitter, seed, { at, nextAt: slots.nextAt(at) })
        return { scheduledAt: new Date(at), dueAt: new Date(at + late) }
      })
      const policy = { retry: { attempts: 1, backoff: 'fixed', baseMs: 0, maxMs: 0 }, timeoutMs: 1 } as const
      return ok({
        when: timing.describe(),
        fields: timing.fields,
        firesPerYear: firesIn(spec, seed, { fromAt, toAt: fromAt + YEAR_MS }),
        next,
        warnings: warningsOf({ workspace, key, timing: spec, policy }, fromAt),
      })
    }),
  ]
}
