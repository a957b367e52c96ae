/** The public view of a schedule: its options, its state, and when it fires next. */
import { dateOf } from '../schedule/instant.ts'
import { jitterMs } from '../schedule/jitter.ts'
import { type Schedule, seedOf } from '../schedule/schedule.ts'
import { nextRunOr } from '../schedule/search.ts'
import { slotsOf } from '../schedule/slots.ts'
import type { Store } from '../store/contract/store.ts'
import { inSteps } from '../time/in-steps.ts'
import type { Steps } from '../time/steps.ts'
import { type ScheduleInput, toScheduleInput, whenText } from './schedule-input.ts'

export interface ScheduleView extends ScheduleInput {
  readonly id: string
  readonly workspace: string
  readonly key: string
  /** The timing and its bounds in English; null when this version cannot read the timing. */
  readonly when: string | null
  /** Grows with every change. */
  readonly revision: number
  readonly createdAt: Date
  readonly createdBy: string
  readonly updatedAt: Date
  readonly updatedBy: string
  readonly paused: {
    readonly reason: string
    readonly by: string
    readonly at: Date
    readonly until: Date | null
  } | null
  /** In quarantine because it cannot be planned; a changed definition ends the quarantine. */
  readonly quarantined: { readonly code: string; readonly message: string; readonly at: Date } | null
  /**
   * The nominal instant of the next run. Where exclusions make it expensive to find, and in lists of schedules with exclusions,
   * a lower bound: the next instant that the planner checks. Null while paused or quarantined, and without a further run. */
  readonly nextFireAt: Date | null
  /** When that run may start: later than its nominal instant by the jitter. */
  readonly nextDueAt: Date | null
  /**
   * The nominal instant of the newest past occurrence that became a run: on time, by catch-up or by a backfill.
   * Null when there was none, and when retention has deleted its run (`retention.history`).
   */
  readonly lastFiredAt: Date | null
}

/** What a view has in addition to the stored schedule. */
export interface ViewFacts {
  readonly now: number
  readonly lastFiredAt: number | null
  /** Computed when absent. */
  readonly next?: NextFire
}

type NextFire = Pick<ScheduleView, 'nextFireAt' | 'nextDueAt'>

export function scheduleView(schedule: Schedule, facts: ViewFacts): ScheduleView {
  const { now, lastFiredAt, next = nextFire(schedule, now) } = facts
  const { pause, quarantine } = schedule
  return {
    id: schedule.id,
    workspace: schedule.workspace,
    key: schedule.key,
    when: readable(() => whenText(schedule)),
    ...toScheduleInput(schedule),
    revision: schedule.revision,
    createdAt: new Date(schedule.createdAt),
    createdBy: schedule.createdBy,
    updatedAt: new Date(schedule.updatedAt),
    updatedBy: schedule.updatedBy,
    paused: pause && { ...pause, at: new Date(pause.at), until: dateOf(pause.until) },
    quarantined: quarantine && { ...quarantine, at: new Date(quarantine.at) },
    ...next,
    lastFiredAt: dateOf(lastFiredAt),
  }
}

/** When it fires next, and when that run may start. */
export const nextFire = (schedule: Schedule, now: number): NextFire =>
  (schedule.pause || schedule.quarantine ? null : readable(() => nextRun(schedule, now))) ?? NONE

/** Views of a list of schedules, in their order, without searching for next runs behind exclusions. */
export async function viewsOf(store: Store, schedules: readonly Schedule[]): Promise<ScheduleView[]> {
  const now = await store.now()
  const fired = await store.history.lastFired(
    schedules.map(({ id }) => id),
    now,
  )
  return inSteps(viewing(schedules, { now, fired }))
}

interface ListFacts {
  readonly now: number
  readonly fired: ReadonlyMap<string, number>
}

function* viewing(schedules: readonly Schedule[], { now, fired }: ListFacts): Steps<ScheduleView[]> {
  const views: ScheduleView[] = []
  for (const schedule of schedules) {
    yield
    const facts = { now, lastFiredAt: fired.get(schedule.id) ?? null, next: listedFire(schedule, now) }
    views.push(scheduleView(schedule, facts))
  }
  return views
}

export async function viewOf(store: Store, schedule: Schedule): Promise<ScheduleView> {
  const now = await store.now()
  const fired = await store.history.lastFired([schedule.id], now)
  return scheduleView(schedule, { now, lastFiredAt: fired.get(schedule.id) ?? null })
}

/** The next fire for lists. With exclusions it returns the stored cursor instead of searching. */
function listedFire(schedule: Schedule, now: number): NextFire {
  if (schedule.timing.exclude === undefined) return nextFire(schedule, now)
  if (schedule.pause || schedule.quarantine) return NONE
  const at = dateOf(schedule.nextAt)
  return { nextFireAt: at, nextDueAt: at }
}

const NONE = { nextFireAt: null, nextDueAt: null }

/** A row of a newer version, or with an unknown time zone, must still be shown. */
function readable<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** From the timing and not from the cursor, which is ahead by the lookahead and may already have planned the last run. */
function nextRun(schedule: Schedule, now: number): NextFire {
  const { firing, runCount, watermarkAt } = schedule
  const seed = seedOf(schedule)
  const slots = slotsOf(schedule.timing, seed)
  // The cursor is never later than the next run.
  const at = nextRunOr(slots, now, schedule.nextAt)
  const isDone = firing.maxRuns !== null && runCount >= firing.maxRuns
  if (at === null || (isDone && at > watermarkAt)) return NONE
  const dueAt = at + jitterMs(firing.jitter, seed, { at, nextAt: slots.nextAt(at) })
  return { nextFireAt: dateOf(at), nextDueAt: dateOf(dueAt) }
}
