/** Writes plans, as steps of one transaction: looks at all their cursors, decides who is stale, and writes the others together; what is in a plan is `plan/plan.ts`. */
import { OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import type { Plan, PlannedRun } from '../../plan/plan.ts'
import { pairsText, stretchesOf, wavesOf } from './batch.ts'
import { takenGroups } from './group-order.ts'
import { recordNonRun } from './non-runs.ts'
import { BY_ITSELF, pauseText, revise } from './revisions.ts'
import { ask, type Steps } from './steps.ts'

export const SEEN = `
  select json_group_array(json_array(c.schedule_id, c.next_at, c.watermark_at, c.revision)) as cursors,
    (select max(rowid) from everytick_runs) as last
  from json_each(?) j cross join everytick_cursors c on c.schedule_id = j.value`
// The schedule lends the run everything but its instants, so that a payload never leaves the database. An occurrence
// above the watermark can stand in history: one that was planned ahead and cancelled before an edit moved the watermark back.
// A second open run in one group is no repetition but a mistake, and must not pass in silence.
export const INSERT_RUNS = `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, concurrency_group, overlap, readiness, created_at, payload, policy)
  select j.key, s.workspace, s.job, s.queue, 'pending', ?, s.priority, s.id, s.key, s.revision, j.value ->> 1,
    j.value ->> 2, j.value ->> 3, iif(?, s.id, j.value ->> 4), ?, ?, ?, s.payload, s.policy
  from json_each(?) j cross join everytick_schedules s on s.id = j.value ->> 0
  where not exists (select 1 from everytick_history h where h.id = j.key)
    and not exists (select 1 from everytick_deleted_runs d where d.id = j.key)
  on conflict (id) do nothing
  on conflict (schedule_id, scheduled_at) where scheduled_at is not null and trigger <> 'backfill' do nothing`
// Read after the write and all in one text: what a write returns is set aside row by row. New rows come after all others,
// and in a caller's transaction others may write between two statements of ours, but nobody else plans.
export const INSERTED = `
  select json_group_array(schedule_id) as ids, json_group_array(distinct queue) as queues from everytick_runs
  where rowid > ? and trigger in ('schedule', 'catch_up')`
export const MOVE = `
  update everytick_cursors
  set next_at = j.value ->> 0, watermark_at = max(watermark_at, j.value ->> 1), run_count = run_count + (j.value ->> 2)
  from json_each(?) j where schedule_id = j.key`
const PAUSED = `select workspace, key, revision, pause from everytick_schedules where id = ? and pause is not null`
const LIFT_PAUSE = `update everytick_schedules set pause = null, updated_at = ?, updated_by = ? where id = ?`

type Answer = 'recorded' | 'stale'

/** Answers in the order of the input; collects the queues in which there are new runs. */
export function* recordAll(plans: readonly Plan[], now: number, queues: Set<string>): Steps<Answer[]> {
  const answers: Answer[] = []
  for (const wave of wavesOf(plans, namesOf)) {
    const { cursors, last } = yield* look(wave)
    const fresh = wave.filter((plan) => isFresh(plan, cursors.get(plan.scheduleId)))
    yield* recordFresh(fresh, { cursors, last, now, queues })
    const recorded = new Set(fresh)
    for (const plan of wave) answers.push(recorded.has(plan) ? 'recorded' : 'stale')
  }
  return answers
}

/** A concurrency group and a schedule may be called alike, which costs no more than a wave. */
const namesOf = ({ scheduleId, group }: Plan): string[] =>
  group === null || group === scheduleId ? [scheduleId] : [scheduleId, group]

type Cursor = readonly [id: string, nextAt: number | null, watermarkAt: number, revision: number]

/** The cursors of all, and the last row among the runs. */
function* look(plans: readonly Plan[]): Steps<Pick<ScanRow, 'cursors' | 'last'>> {
  const ids = JSON.stringify(plans.map(({ scheduleId }) => scheduleId))
  const [row] = yield* ask<{ cursors: string; last: number | null }>(SEEN, ids)
  const cursors = new Map<string, Cursor>()
  for (const cursor of JSON.parse(row?.cursors ?? '[]') as Cursor[]) cursors.set(cursor[0], cursor)
  return { cursors, last: row?.last ?? 0 }
}

function isFresh(plan: Plan, cursor: Cursor | undefined): boolean {
  if (cursor === undefined) return false
  const [, nextAt, watermarkAt, revision] = cursor
  if (nextAt !== plan.expectedNextAt || revision !== plan.revision) return false
  // A cursor that stays where it is does not show that somebody has recorded the same.
  return plan.expectedWatermarkAt === undefined || watermarkAt === plan.expectedWatermarkAt
}

interface ScanRow {
  readonly cursors: ReadonlyMap<string, Cursor>
  readonly last: number
  readonly now: number
  readonly queues: Set<string>
}

function* recordFresh(plans: readonly Plan[], { cursors, last, now, queues }: ScanRow): Steps<void> {
  if (plans.length === 0) return
  const watermarkOf = ({ scheduleId }: Plan): number => cursors.get(scheduleId)?.[2] ?? 0
  const groups = yield* uniformRuns(plans, { watermarkOf, now })
  for (const [shared, rows] of groups) {
    for (const stretch of stretchesOf(rows, { lengthOf: () => 0 })) {
      yield { text: INSERT_RUNS, values: [...shared, now, pairsText(stretch)], rows: stretch.length }
    }
  }
  const made = new Map<string, number>()
  if (groups.length > 0) {
    const [inserted] = yield* ask<{ ids: string; queues: string }>(INSERTED, last)
    for (const id of JSON.parse(inserted?.ids ?? '[]') as string[]) made.set(id, (made.get(id) ?? 0) + 1)
    for (const queue of JSON.parse(inserted?.queues ?? '[]') as string[]) queues.add(queue)
  }
  const moves = plans.map(({ scheduleId, nextAt, watermarkAt }) => {
    return [scheduleId, [nextAt, watermarkAt, made.get(scheduleId) ?? 0]] as const
  })
  yield { text: MOVE, values: [pairsText(moves)], rows: moves.length }
  for (const plan of plans) {
    for (const nonRun of plan.nonRuns) yield* recordNonRun(plan.scheduleId, nonRun, now)
    if (plan.resumes) yield* liftPause(plan.scheduleId, Math.max(watermarkOf(plan), plan.watermarkAt), now)
  }
}

type RunValues = readonly [id: string, values: readonly (string | number | null)[]]
/** What runs have in common that are inserted together: trigger, whether the group is the schedule's own, overlap and gate. */
type Shared = readonly [PlannedRun['trigger'], 0 | 1, PlannedRun['overlap'], 'ready' | 'undecided']

/** Those above the watermark, by what they have in common. Only the first of a plan can be open. */
function* uniformRuns(
  plans: readonly Plan[],
  { watermarkOf, now }: { watermarkOf: (plan: Plan) => number; now: number },
): Steps<(readonly [Shared, RunValues[]])[]> {
  const runsOf = (plan: Plan): readonly PlannedRun[] => {
    const watermarkAt = watermarkOf(plan)
    return plan.runs.filter(({ scheduledAt }) => scheduledAt > watermarkAt)
  }
  const planned = plans.map((plan) => ({ plan, runs: runsOf(plan) }))
  const firsts = planned.flatMap(({ plan: { group }, runs: [first] }) =>
    group === null || first === undefined || first.dueAt > now + OPEN_AHEAD_MS
      ? []
      : [[group, first.scheduledAt] as const],
  )
  const taken = yield* takenGroups(firsts)
  const groups = new Map<string, readonly [Shared, RunValues[]]>()
  for (const { plan, runs } of planned) {
    const { scheduleId, group } = plan
    for (const [i, { id, trigger, scheduledAt, slotStartAt, dueAt, overlap }] of runs.entries()) {
      const waits = group !== null && (i > 0 || dueAt > now + OPEN_AHEAD_MS || taken.has(group))
      const isOwn = group === scheduleId ? 1 : 0
      const shared = [trigger, isOwn, overlap, waits ? 'undecided' : 'ready'] as const
      const name = shared.join(' ')
      let batch = groups.get(name)
      if (batch === undefined) groups.set(name, (batch = [shared, []]))
      batch[1].push([id, [scheduleId, scheduledAt, slotStartAt, dueAt, ...(isOwn ? [] : [group])]])
    }
  }
  return [...groups.values()]
}

interface Paused {
  readonly workspace: string
  readonly key: string
  readonly revision: number
  readonly pause: string
}

/** A pause that came to its end is lifted by nobody but us. */
function* liftPause(scheduleId: string, cutAt: number, now: number): Steps<void> {
  const [found] = yield* ask<Paused>(PAUSED, scheduleId)
  if (found === undefined) return
  const { workspace, key, revision, pause } = found
  yield { text: LIFT_PAUSE, values: [now, BY_ITSELF, scheduleId] }
  yield revise({
    ...{ scheduleId, workspace, key, kind: 'resumed', revision, at: now, by: BY_ITSELF, cutAt },
    ...{ before: pauseText(pause), after: pauseText(null) },
  })
}
