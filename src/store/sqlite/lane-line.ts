/** Where a new run stands in its lane: whether somebody is open or before it; what follows is decided by `plan/overlap.ts`. */
import { OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import { ask, type Steps } from './steps.ts'

/** Its place in line, in the words of the index `everytick_runs_gated`. */
export const PLACE = 'coalesce(scheduled_at, due_at)'

// One that waits, though nobody is open just now, is not to be overtaken by one that comes later.
export const TAKEN = `
  select exists (select 1 from everytick_runs where lane = ? and gate = 'open')
    or exists (select 1 from everytick_runs where lane = ? and gate <> 'open' and ${PLACE} < ?) as taken`

export interface Newcomer {
  readonly lane: string
  readonly place: number
  readonly dueAt: number
}

/** Whether a new run has to wait behind the gate. */
export function* isBehind({ lane, place, dueAt }: Newcomer, now: number): Steps<boolean> {
  if (dueAt > now + OPEN_AHEAD_MS) return true
  const [row] = yield* ask<{ taken: number }>(TAKEN, lane, lane, place)
  return row?.taken === 1
}
