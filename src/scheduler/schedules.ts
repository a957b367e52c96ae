/** `app.schedules`: creates, changes, pauses, triggers and explains schedules; the planner creates their runs. */

import { EverytickError, shown } from '../errors.ts'
import type { Job } from '../job.ts'
import {
  checkKeys,
  type Instant,
  readChoice,
  readInstantOption,
  readInteger,
  readStoredName,
  readText,
  refused,
} from '../options.ts'
import { type Schedule, seedOf } from '../schedule/schedule.ts'
import { findingRuns } from '../schedule/search.ts'
import { searchBudget } from '../schedule/search-budget.ts'
import { slotsOf } from '../schedule/slots.ts'
import type { ScheduleOptions } from '../schedule-definition.ts'
import { type DeclaredSchedule, readSchedule, scheduleName } from '../schedule-definition.ts'
import type { Executor } from '../store/contract/executor.ts'
import { inSteps } from '../time/in-steps.ts'
import { type ChangeOptions, readBy } from './actor.ts'
import { type BackfillAnswer, type BackfillOptions, startBackfill } from './backfill.ts'
import { type Core, readTx } from './core.ts'
import { definitionsOf } from './definitions.ts'
import type { RunHandle } from './enqueue.ts'
import { type RevisionView, revisionView } from './revisions.ts'
import { emitChange } from './schedule-changes.ts'
import { type EditAnswer, type EditOptions, editSchedule, type ScheduleChanges } from './schedule-edit.ts'
import { type ScheduleView, viewOf, viewsOf } from './schedule-view.ts'
import { putSchedules, resumeSchedule } from './schedule-writing.ts'
import { refuseTwins } from './settings.ts'
import { type TriggerOptions, triggerSchedule } from './trigger.ts'
import { type Why, why } from './why.ts'

export type { ChangeOptions } from './actor.ts'
export type { EditAnswer, EditOptions } from './schedule-edit.ts'

export interface UpsertAnswer {
  readonly id: string
  readonly created: boolean
  readonly changed: boolean
  /** Null while paused, and without a further occurrence. */
  readonly nextFireAt: Date | null
}

export interface PauseOptions extends ChangeOptions {
  readonly reason?: string
  readonly until?: Instant
}

export interface ResumeOptions extends ChangeOptions {
  /** Occurrences during the pause: `now` (the default) skips them, with `catchUp` the catch-up policy decides. */
  readonly from?: 'now' | 'catchUp'
}

export interface ScheduleListOptions {
  readonly workspace?: string
  /** 50 when absent, 1000 at most. */
  readonly limit?: number
  /** The last schedule of the previous page. */
  readonly after?: { readonly workspace: string; readonly key: string }
}

export interface UpsertOptions extends ChangeOptions {
  /** The revision that you read: throws REVISION_CONFLICT when it is not the newest any more. */
  readonly revision?: number
}

export interface Schedules {
  /** Creates or changes the schedule of this workspace and key. Idempotent. */
  upsert<J extends Job | string>(
    schedule: ScheduleOptions<J> | DeclaredSchedule,
    options?: UpsertOptions,
  ): Promise<UpsertAnswer>
  /** Creates a schedule. Throws SCHEDULE_EXISTS when the workspace already has one with this key. */
  create<J extends Job | string>(
    schedule: ScheduleOptions<J> | DeclaredSchedule,
    options?: ChangeOptions,
  ): Promise<UpsertAnswer>
  /** Creates or changes many schedules, all or none; returns answers in the given order. */
  upsertMany(
    schedules: readonly (ScheduleOptions | DeclaredSchedule)[],
    options?: ChangeOptions,
  ): Promise<UpsertAnswer[]>
  /** Changes the given options and removes those that are null. A schedule declared in code needs `force`. */
  edit(workspace: string, key: string, changes: ScheduleChanges, options?: EditOptions): Promise<EditAnswer>
  get(workspace: string, key: string): Promise<ScheduleView | null>
  /** Ordered by workspace and key. */
  list(options?: ScheduleListOptions): Promise<ScheduleView[]>
  /** Pauses the schedule; runs that are due or running continue. Pausing again replaces reason and end. */
  pause(workspace: string, key: string, options?: PauseOptions): Promise<void>
  /** Resumes the schedule: occurrences during the pause are recorded as skipped, or left to the catch-up policy. Does nothing if it is not paused. */
  resume(workspace: string, key: string, options?: ResumeOptions): Promise<void>
  /** Creates one run now, in addition to the occurrences; works while the schedule is paused. */
  trigger(workspace: string, key: string, options?: TriggerOptions): Promise<RunHandle>
  /** Runs the occurrences of a past span in the background; skips those that already ran, unless `force` is set. */
  backfill(workspace: string, key: string, options: BackfillOptions): Promise<BackfillAnswer>
  /** Every change, oldest first: actor, time, before and after. */
  revisions(workspace: string, key: string): Promise<RevisionView[]>
  /** Explains the outcome of an occurrence, with a checklist, from stored facts only. */
  why(workspace: string, key: string, at: Instant): Promise<Why>
  /** Deletes a schedule; runs that are due or running continue. Returns whether it existed. */
  remove(workspace: string, key: string, options?: ChangeOptions): Promise<boolean>
  /** Deletes all schedules of a workspace; returns how many. */
  removeWorkspace(workspace: string, options?: ChangeOptions): Promise<number>
  /** The next occurrences that may run, by the definition alone: ignores a pause. */
  next(workspace: string, key: string, count?: number): Promise<Date[]>
}

const MAX_PAGE = 1000
const MAX_NEXT = 10_000
const MAX_REVISION = 2 ** 31 - 1
/** Enough for ten thousand occurrences of the widest timing, and some excluded ones. */
const SEARCH_STEPS = 500_000

export function createSchedules(core: Core): Schedules {
  const putAll = async (
    given: readonly (ScheduleOptions | DeclaredSchedule)[],
    options: UpsertOptions,
    onlyNew: boolean,
  ): Promise<UpsertAnswer[]> => {
    checkKeys(options, ['by', 'tx', ...(onlyNew || given.length !== 1 ? [] : ['revision'])], 'upsert')
    if (!Array.isArray(given)) throw refused(`upsertMany takes a list of schedules, not ${shown(given)}`)
    const [tx, by] = [readTx(options), readBy(core, options)]
    if (given.length === 0) return []
    // Reads the clock while it validates the definitions, whose errors are thrown first.
    const asked = core.store().then((store) => store.now())
    asked.catch(() => {})
    const declared = given.map((each) => (isDeclared(each) ? each : readSchedule(each)))
    refuseTwins(declared)
    const definitions = await definitionsOf(core, declared, 'api')
    const from =
      options.revision === undefined ? {} : { from: readInteger(options.revision, 'revision', [1, MAX_REVISION]) }
    const pauses = declared.map(({ pause }) => pause)
    const { answers, nextFireAt } = await putSchedules(core, definitions, { tx, by, onlyNew, pauses, asked, ...from })
    return answers.map(({ id, created, changed }, i) => ({ id, created, changed, nextFireAt: nextFireAt(i) }))
  }

  const known = async (workspace: string, key: string, tx?: Executor): Promise<Schedule> => {
    const name = names(workspace, key)
    const found = await (await core.store()).schedules.get(name.workspace, name.key, tx)
    if (!found) throw notFound(name)
    return found
  }

  return {
    upsertMany: (given, options = {}) => putAll(given, options, false),
    async upsert(schedule, options = {}) {
      const [answer] = await putAll([schedule as ScheduleOptions], options, false)
      return answer!
    },
    async create(schedule, options = {}) {
      const [answer] = await putAll([schedule as ScheduleOptions], options, true)
      return answer!
    },
    edit: (workspace, key, changes, options = {}) =>
      editSchedule(core, (tx) => known(workspace, key, tx), { changes, options }),
    async get(workspace, key) {
      const name = names(workspace, key)
      const store = await core.store()
      const found = await store.schedules.get(name.workspace, name.key)
      return found && viewOf(store, found)
    },
    async list(options = {}) {
      checkKeys(options, ['workspace', 'limit', 'after'], 'schedules.list()')
      const { workspace, after } = options
      const limit = readInteger(options.limit ?? 50, 'limit', [1, MAX_PAGE])
      const store = await core.store()
      const page = await store.schedules.list({
        limit,
        ...(workspace === undefined ? {} : { workspace: readStoredName(workspace, 'workspace') }),
        ...(after === undefined ? {} : { after: names(after.workspace, after.key) }),
      })
      return viewsOf(store, page)
    },
    async pause(workspace, key, options = {}) {
      checkKeys(options, ['reason', 'by', 'until', 'tx'], 'pause()')
      const name = names(workspace, key)
      const pause = {
        reason: readText(options.reason ?? '', 'reason', 500),
        by: readBy(core, options),
        until: options.until === undefined ? null : readInstantOption(options.until, 'until'),
      }
      const tx = readTx(options)
      if (!(await (await core.store()).schedules.pause(name.workspace, name.key, pause, tx))) throw notFound(name)
      emitChange(core, { action: 'paused', schedules: [name], by: pause.by })
    },
    async resume(workspace, key, options = {}) {
      checkKeys(options, ['from', 'by', 'tx'], 'resume()')
      const [tx, by] = [readTx(options), readBy(core, options)]
      const catchUp = readChoice(options.from ?? 'now', 'from', ['now', 'catchUp']) === 'catchUp'
      await resumeSchedule(core, () => known(workspace, key, tx), { tx, by, catchUp })
    },
    trigger: (workspace, key, options = {}) => triggerSchedule(core, () => known(workspace, key), options),
    backfill: (workspace, key, options) => startBackfill(core, () => known(workspace, key), options),
    async revisions(workspace, key) {
      const { id } = await known(workspace, key)
      return (await (await core.store()).history.revisions(id)).map(revisionView)
    },
    why: (workspace, key, at) => why(core, { workspace, key }, at),
    async remove(workspace, key, options = {}) {
      checkKeys(options, ['by', 'tx'], 'remove()')
      const name = names(workspace, key)
      const [tx, by] = [readTx(options), readBy(core, options)]
      const removed = await (await core.store()).schedules.remove(name.workspace, name.key, by, tx)
      if (removed) emitChange(core, { action: 'removed', schedules: [name], by })
      return removed
    },
    async removeWorkspace(workspace, options = {}) {
      checkKeys(options, ['by', 'tx'], 'removeWorkspace()')
      const name = readStoredName(workspace, 'workspace')
      const [tx, by] = [readTx(options), readBy(core, options)]
      const count = await (await core.store()).schedules.removeWorkspace(name, by, tx)
      if (count > 0) core.hub.tell({ kind: 'schedules.changed', action: 'removed', count, names: [`${name}/*`], by })
      return count
    },
    async next(workspace, key, count = 10) {
      readInteger(count, 'count', [0, MAX_NEXT])
      const schedule = await known(workspace, key)
      const slots = slotsOf(schedule.timing, seedOf(schedule))
      const afterAt = await (await core.store()).now()
      const coming = await inSteps(findingRuns(slots, { afterAt, count }, searchBudget(SEARCH_STEPS)))
      return coming.map((at) => new Date(at))
    },
  }
}

const names = (workspace: string, key: string): { workspace: string; key: string } => ({
  workspace: readStoredName(workspace, 'workspace'),
  key: readStoredName(key, 'key'),
})

const isDeclared = (value: unknown): value is DeclaredSchedule =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schedule'

const notFound = (name: { workspace: string; key: string }): EverytickError =>
  new EverytickError('SCHEDULE_NOT_FOUND', `there is no ${scheduleName(name)} in workspace ${shown(name.workspace)}`)
