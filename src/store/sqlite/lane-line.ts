/** Where a new run stands in its lane: whether somebody is open or before it; what follows is decided by `plan/overlap.ts`. */
import { OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import { pairsText } from './batch.ts'
import { ask, type Steps } from './steps.ts'

/** Its place in line, in the words of the index `everytick_runs_gated`. */
export const PLACE = 'coalesce(scheduled_at, due_at)'

// One that waits, though nobody is open just now, is not to be overtaken by one that comes later.
export const TAKEN = `
  select j.key as lane from json_each(?) j
  where exists (select 1 from everytick_runs r where r.lane = j.key and r.gate = 'open')
    or exists (
      select 1 from everytick_runs r where r.lane = j.key and r.gate <> 'open' and ${PLACE} < j.value)`

/** Of lanes and places in them, the lanes in which somebody is open or before that place. */
export function* lanesTaken(places: readonly (readonly [lane: string, place: number])[]): Steps<ReadonlySet<string>> {
  if (places.length === 0) return new Set()
  const rows = yield* ask<{ lane: string }>(TAKEN, pairsText(places))
  return new Set(rows.map(({ lane }) => lane))
}

export interface Newcomer {
  readonly lane: string
  readonly place: number
  readonly dueAt: number
}

/** Whether a new run has to wait behind the gate. */
export function* isBehind({ lane, place, dueAt }: Newcomer, now: number): Steps<boolean> {
  if (dueAt > now + OPEN_AHEAD_MS) return true
  return (yield* lanesTaken([[lane, place]])).has(lane)
}
