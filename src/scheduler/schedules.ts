/** `app.schedules`: what users do to schedules while the app lives; which occurrences that makes is planned elsewhere. */
import { EverytickError, shown } from '../errors.ts'
import type { Job } from '../job.ts'
import { checkKeys, type Instant, readInstantOption, readInteger, readName, readText, refused } from '../options.ts'
import { dateOf } from '../schedule/instant.ts'
import { type Schedule, seedOf, timingOf } from '../schedule/schedule.ts'
import type { ScheduleOptions } from '../schedule-definition.ts'
import { type DeclaredSchedule, jobOf, readSchedule, scheduleName } from '../schedule-definition.ts'
import type { NewRun } from '../store/contract/runs.ts'
import { type Core, type InTransaction, readTx } from './core.ts'
import type { RunHandle } from './enqueue.ts'
import { storablePayload } from './payload.ts'
import { type ScheduleView, scheduleView } from './schedule-view.ts'
import { definitionOf, putSchedules, resumeSchedule } from './schedule-writing.ts'
import { refuseTwins } from './settings.ts'

export interface UpsertAnswer {
  readonly id: string
  readonly created: boolean
  readonly changed: boolean
  /** Null while paused, and when there is no further occurrence. */
  readonly nextFireAt: Date | null
}

export interface PauseOptions extends InTransaction {
  readonly reason?: string
  /** Who paused it; `api` when absent. */
  readonly by?: string
  readonly until?: Instant
}

export interface TriggerOptions extends InTransaction {
  /** Instead of the schedule's own; checked by the job's schema where this app has the job. */
  readonly payload?: unknown
  /** A second trigger with the same key answers with the first run. */
  readonly idempotencyKey?: string
}

export interface ScheduleListOptions {
  readonly workspace?: string
  /** 50 when absent, 1000 at most. */
  readonly limit?: number
  /** The last schedule of the page before. */
  readonly after?: { readonly workspace: string; readonly key: string }
}

export interface Schedules {
  /** Creates or changes by (workspace, key); saying the same twice changes nothing. */
  upsert<J extends Job | string>(
    schedule: ScheduleOptions<J> | DeclaredSchedule,
    options?: InTransaction,
  ): Promise<UpsertAnswer>
  /** All or none, in the order given. */
  upsertMany(
    schedules: readonly (ScheduleOptions | DeclaredSchedule)[],
    options?: InTransaction,
  ): Promise<UpsertAnswer[]>
  get(workspace: string, key: string): Promise<ScheduleView | null>
  /** In order of workspace and key. */
  list(options?: ScheduleListOptions): Promise<ScheduleView[]>
  /** Runs already due or running go on. Pausing twice keeps the newer words. */
  pause(workspace: string, key: string, options?: PauseOptions): Promise<void>
  /** What passed meanwhile is recorded as skipped. Resuming what is not paused does nothing. */
  resume(workspace: string, key: string, options?: InTransaction): Promise<void>
  /** Makes one run now, beside the occurrences: it consumes none, and a pause does not stop it. */
  trigger(workspace: string, key: string, options?: TriggerOptions): Promise<RunHandle>
  /** Answers whether there was one. Runs already due or running go on. */
  remove(workspace: string, key: string, options?: InTransaction): Promise<boolean>
  /** Answers how many schedules there were. */
  removeWorkspace(workspace: string, options?: InTransaction): Promise<number>
  /** The coming occurrences by the timing alone: a pause is not looked at. */
  next(workspace: string, key: string, count?: number): Promise<Date[]>
}

const MAX_PAGE = 1000
const MAX_NEXT = 10_000

export function createSchedules(core: Core): Schedules {
  const upsertMany: Schedules['upsertMany'] = async (given, options = {}) => {
    checkKeys(options, ['tx'], 'upsert')
    if (!Array.isArray(given)) throw refused(`upsertMany takes a list, not ${shown(given)}`)
    const tx = readTx(options)
    const declared = given.map((each) => (isDeclared(each) ? each : readSchedule(each)))
    refuseTwins(declared)
    const definitions = await Promise.all(declared.map((each) => definitionOf(core, each, 'api')))
    if (definitions.length === 0) return []
    const { answers, now } = await putSchedules(core, definitions, tx)
    return answers.map(({ id, created, changed, nextAt }, i) => {
      const definition = definitions[i]!
      const next = nextAt === null ? null : timingOf(definition.timing, seedOf(definition)).nextAt(now)
      return { id, created, changed, nextFireAt: dateOf(next) }
    })
  }

  const known = async (workspace: string, key: string): Promise<Schedule> => {
    const name = names(workspace, key)
    const found = await (await core.store()).schedules.get(name.workspace, name.key)
    if (!found) throw notFound(name)
    return found
  }

  return {
    upsertMany,
    async upsert(schedule, options) {
      const [answer] = await upsertMany([schedule as ScheduleOptions], options)
      return answer!
    },
    async get(workspace, key) {
      const name = names(workspace, key)
      const store = await core.store()
      const found = await store.schedules.get(name.workspace, name.key)
      return found && scheduleView(found, await store.now())
    },
    async list(options = {}) {
      checkKeys(options, ['workspace', 'limit', 'after'], 'schedules.list()')
      const { workspace, after } = options
      const limit = readInteger(options.limit ?? 50, 'limit', [1, MAX_PAGE])
      const store = await core.store()
      const page = await store.schedules.list({
        limit,
        ...(workspace === undefined ? {} : { workspace: readName(workspace, 'workspace') }),
        ...(after === undefined ? {} : { after: names(after.workspace, after.key) }),
      })
      const now = await store.now()
      return page.map((each) => scheduleView(each, now))
    },
    async pause(workspace, key, options = {}) {
      checkKeys(options, ['reason', 'by', 'until', 'tx'], 'pause()')
      const name = names(workspace, key)
      const pause = {
        reason: readText(options.reason ?? '', 'reason', 500),
        by: readName(options.by ?? 'api', 'by'),
        until: options.until === undefined ? null : readInstantOption(options.until, 'until'),
      }
      const tx = readTx(options)
      if (!(await (await core.store()).schedules.pause(name.workspace, name.key, pause, tx))) throw notFound(name)
    },
    async resume(workspace, key, options = {}) {
      checkKeys(options, ['tx'], 'resume()')
      const tx = readTx(options)
      await resumeSchedule(core, () => known(workspace, key), tx)
    },
    async trigger(workspace, key, options = {}) {
      checkKeys(options, ['payload', 'idempotencyKey', 'tx'], 'trigger()')
      const tx = readTx(options)
      const { id, revision, job, queue, priority, policy, ...schedule } = await known(workspace, key)
      const of = `${scheduleName(schedule)} → job "${job}"`
      const payload =
        options.payload === undefined
          ? schedule.payload
          : await storablePayload(jobOf(job, core.settings.jobs, of).schema, options.payload, of)
      const run: NewRun = {
        ...{ id: core.newId(), workspace: schedule.workspace, job, queue, priority, policy, payload },
        trigger: 'manual',
        schedule: { id, key: schedule.key, revision },
        due: { delayMs: 0 },
        idempotencyKey:
          options.idempotencyKey === undefined ? null : readName(options.idempotencyKey, 'idempotencyKey'),
      }
      const [answer] = await (await core.store()).runs.enqueue([run], tx)
      return answer!
    },
    async remove(workspace, key, options = {}) {
      checkKeys(options, ['tx'], 'remove()')
      const name = names(workspace, key)
      return (await core.store()).schedules.remove(name.workspace, name.key, readTx(options))
    },
    async removeWorkspace(workspace, options = {}) {
      checkKeys(options, ['tx'], 'removeWorkspace()')
      return (await core.store()).schedules.removeWorkspace(readName(workspace, 'workspace'), readTx(options))
    },
    async next(workspace, key, count = 10) {
      readInteger(count, 'count', [0, MAX_NEXT])
      const schedule = await known(workspace, key)
      const now = await (await core.store()).now()
      return timingOf(schedule.timing, seedOf(schedule)).nextMany(new Date(now), count)
    },
  }
}

const names = (workspace: string, key: string): { workspace: string; key: string } => ({
  workspace: readName(workspace, 'workspace'),
  key: readName(key, 'key'),
})

const isDeclared = (value: unknown): value is DeclaredSchedule =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schedule'

const notFound = (name: { workspace: string; key: string }): EverytickError =>
  new EverytickError('SCHEDULE_NOT_FOUND', `there is no ${scheduleName(name)} in workspace ${shown(name.workspace)}`)
