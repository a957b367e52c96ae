/** HTTP handler of the simulation: an unsaved schedule over a period, with the engine's own decisions. */
import { type SimulatedEntry, type SimulatedWorld, simulating } from '../../observe/simulate.ts'
import { readDuration, readInstantOption, refused } from '../../options.ts'
import { DAY_MS } from '../../schedule/calendar.ts'
import { readSchedule, type ScheduleOptions } from '../../schedule-definition.ts'
import { inSteps } from '../../time/in-steps.ts'
import * as contract from '../contract/simulate.ts'
import { mapInSlices } from '../in-slices.ts'
import type { Parts } from '../parts.ts'
import { home } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'

/** The longest period: enough for any schedule, and short enough to simulate during a request. */
const MAX_SPAN_MS = 3 * 366 * DAY_MS

export function simulateRoutes({ core }: Parts): readonly Route[] {
  return [
    route(contract.simulateSchedule, async ({ body, principal, budget }) => {
      const { from, to, outages = [], durations = '0s', key = 'simulated', workspace, ...options } = body
      const named = { ...options, key, workspace: home(principal, workspace), job: 'simulated' }
      const schedule = readSchedule(named as unknown as ScheduleOptions)
      const fromAt = from === undefined ? await (await core.store()).now() : readInstantOption(from, 'from')
      const toAt = to === undefined ? fromAt + DAY_MS : readInstantOption(to, 'to')
      if (toAt <= fromAt) throw refused('to is not after from', 'swap them')
      if (toAt - fromAt > MAX_SPAN_MS) throw refused('from and to are more than three years apart')
      const world: SimulatedWorld = {
        fromAt,
        toAt,
        outages: outages.map(readOutage),
        durationsMs: [durations].flat().map((each) => readDuration(each, 'durations')),
      }
      const { entries, untilAt, truncated } = await inSteps(simulating(schedule, world, budget), core.clock)
      return ok({
        from: new Date(fromAt),
        to: new Date(untilAt),
        truncated,
        outcomes: outcomesOf(entries),
        entries: await mapInSlices(entries, shown),
      })
    }),
  ]
}

function readOutage({ from, to }: { from: string; to: string }): SimulatedWorld['outages'][number] {
  const outage = { fromAt: readInstantOption(from, 'outages: from'), toAt: readInstantOption(to, 'outages: to') }
  if (outage.toAt > outage.fromAt) return outage
  throw refused('an outage ends before it begins', 'swap from and to')
}

function outcomesOf(entries: readonly SimulatedEntry[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { outcome } of entries) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at))

const shown = ({ scheduledAt, dueAt, startedAt, finishedAt, ...entry }: SimulatedEntry) => ({
  scheduledAt: new Date(scheduledAt),
  dueAt: new Date(dueAt),
  startedAt: dateOf(startedAt),
  finishedAt: dateOf(finishedAt),
  ...entry,
})
