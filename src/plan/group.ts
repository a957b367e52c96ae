/** Names the concurrency group of a run, in which one run at a time is active; `overlap.ts` decides what happens when it is busy. */
import type { FiringPolicy } from '../schedule/schedule.ts'

interface GroupedSchedule {
  readonly id: string
  readonly workspace: string
  readonly firing: Pick<FiringPolicy, 'overlap' | 'concurrencyKey'>
}

/** A concurrency key is a concurrency group that schedules and runs made by hand can share; otherwise a schedule is its own. */
export function groupOfSchedule({
  id,
  workspace,
  firing: { overlap, concurrencyKey },
}: GroupedSchedule): string | null {
  if (concurrencyKey !== null) return groupOfKey(workspace, concurrencyKey)
  return overlap === 'allow' ? null : id
}

export const groupOfKey = (workspace: string, concurrencyKey: string): string => `${workspace}\n${concurrencyKey}`
