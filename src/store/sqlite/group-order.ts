/** Where a new run stands in its group: whether another run is ready or comes before it; what follows is decided by `plan/overlap.ts`. */
import { OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import { pairsText } from './batch.ts'
import { ask, type Steps } from './steps.ts'

/** Its place in line, in the words of the index `everytick_runs_blocked`. */
export const PLACE = 'coalesce(scheduled_at, due_at)'

// A later run must not overtake a waiting one, even while no run of the group is ready.
export const TAKEN = `
  select j.key as concurrency_group from json_each(?) j
  where exists (select 1 from everytick_runs r where r.concurrency_group = j.key and r.readiness = 'ready')
    or exists (
      select 1 from everytick_runs r where r.concurrency_group = j.key and r.readiness <> 'ready' and ${PLACE} < j.value)`

/** Of groups and places in them, the groups in which another run is ready or comes before that place. */
export function* takenGroups(places: readonly (readonly [group: string, place: number])[]): Steps<ReadonlySet<string>> {
  if (places.length === 0) return new Set()
  const rows = yield* ask<{ concurrency_group: string }>(TAKEN, pairsText(places))
  return new Set(rows.map((row) => row.concurrency_group))
}

export interface Newcomer {
  readonly group: string
  readonly place: number
  readonly dueAt: number
}

/** Whether a new run has to wait that are not ready. */
export function* isBehind({ group, place, dueAt }: Newcomer, now: number): Steps<boolean> {
  if (dueAt > now + OPEN_AHEAD_MS) return true
  return (yield* takenGroups([[group, place]])).has(group)
}
