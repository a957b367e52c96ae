/** Names the lane of a run, in which one run at a time is open; what happens when it is busy is `overlap.ts`. */
import type { FiringPolicy } from '../schedule/schedule.ts'

interface Laned {
  readonly id: string
  readonly workspace: string
  readonly firing: Pick<FiringPolicy, 'overlap' | 'concurrencyKey'>
}

/** A concurrency key is a lane that schedules and runs made by hand can share; otherwise a schedule is its own. */
export function laneOf({ id, workspace, firing: { overlap, concurrencyKey } }: Laned): string | null {
  if (concurrencyKey !== null) return keyLane(workspace, concurrencyKey)
  return overlap === 'allow' ? null : id
}

export const keyLane = (workspace: string, concurrencyKey: string): string => `${workspace}\n${concurrencyKey}`
