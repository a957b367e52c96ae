/** `app.runs`: reading runs and what operators do to them; nothing here carries a run out. */
import { EverytickError, shown } from '../errors.ts'
import { checkKeys, type Duration, readChoice, readDuration, readInteger, readStoredName, refused } from '../options.ts'
import { RUN_STATES, type RunState } from '../run/state.ts'
import { scheduleName } from '../schedule-definition.ts'
import type { JournalEntry, RunFilter } from '../store/contract/history.ts'
import type { CancelAnswer } from '../store/contract/runs.ts'
import { type By, readBy } from './actor.ts'
import { retryRuns } from './adding-runs.ts'
import { type AttemptEntry, attemptsOf } from './attempts.ts'
import {
  attemptNamed,
  COMPLETE_KEYS,
  type CompleteOptions,
  completeRun,
  readCompletion,
  tokenReader,
} from './complete.ts'
import type { Core } from './core.ts'
import type { RunHandle } from './enqueue.ts'
import { type RunView, runView } from './run-view.ts'
import { type CancelCounts, type CancelFilter, cancelMany, type RetryFilter, retryMany } from './runs-in-bulk.ts'
import { waitForEnd } from './wait.ts'

export interface RunListOptions {
  readonly workspace?: string
  /** The key of a schedule, in the given workspace or in `default`. */
  readonly schedule?: string
  /** Also finds the runs of a schedule that was removed. */
  readonly scheduleId?: string
  readonly job?: string
  readonly queue?: string
  readonly state?: RunState | readonly RunState[]
  /** 50 when absent, 1000 at most. */
  readonly limit?: number
  /** The last run of the page before. */
  readonly after?: Pick<RunView, 'id'>
}

export interface JournalView extends Omit<JournalEntry, 'at'> {
  readonly at: Date
}

export interface AttemptView extends Omit<AttemptEntry, 'at'> {
  readonly at: Date
}

export interface Runs {
  get(id: string): Promise<RunView | null>
  /** Live and finished together, newest first: by the instant of the occurrence, or of the request for a run made by hand. */
  list(options?: RunListOptions): Promise<RunView[]>
  /** Resolves when the run has succeeded, failed or was cancelled, wherever that happens. */
  wait<Result>(run: RunHandle<Result> | string, options?: { readonly timeout?: Duration }): Promise<RunView<Result>>
  /** A pending run ends at once, and one that was handed over; any other that is running has its signal aborted. */
  cancel(id: string, options?: By): Promise<Exclude<CancelAnswer, 'not_found'>>
  /** The same for many, named or found; answers how many there were of each kind. */
  cancel(which: readonly string[] | CancelFilter, options?: By): Promise<CancelCounts>
  /** Brings one failed run back with a new series of attempts; refused with RUN_NOT_FAILED for any other. */
  retry(id: string, options?: By): Promise<RunView>
  /** The same for many, named or found; answers the ids it moved. */
  retry(which: readonly string[] | RetryFilter, options?: By): Promise<string[]>
  /**
   * Deletes a finished run with its journal and its log. Its occurrence stays accounted for: `why` and `audit` know that there was a
   * run, how it ended, and who deleted it. Refused with RUN_NOT_FINISHED for a run that is pending or running.
   */
  remove(id: string, options?: By): Promise<void>
  /**
   * Ends the present attempt of a running run, for work that was handed over (`HandOver`). A failed attempt is followed by
   * another as the run's policy has it, unless `retry` is false. Refused with LEASE_LOST when another attempt has begun or
   * the run has ended.
   */
  complete(id: string, completion: CompleteOptions): Promise<RunView>
  /** Every attempt, oldest first: those that another followed, with what else the journal has, and the last as it stands or ended. */
  attempts(id: string): Promise<AttemptView[]>
  /** What happened to a run beyond what its row tells, oldest first. */
  journal(id: string): Promise<JournalView[]>
}

const FILTERS = ['workspace', 'schedule', 'scheduleId', 'job', 'queue', 'state', 'limit', 'after']
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function createRuns(core: Core): Runs {
  const readToken = tokenReader(core)
  const get: Runs['get'] = async (id) => {
    const run = await (await core.store()).history.run(readId(id))
    return run && runView(run)
  }
  const cancel = async (
    which: string | readonly string[] | CancelFilter,
    options: By = {},
  ): Promise<Exclude<CancelAnswer, 'not_found'> | CancelCounts> => {
    checkKeys(options, ['by'], 'runs.cancel()')
    const by = readBy(core, options)
    const store = await core.store()
    if (isFilter(which)) return cancelMany(store, which, { by, filter: () => readFilter(core, which) })
    if (typeof which !== 'string') return cancelMany(store, which.map(readId), { by, filter: async () => ({}) })
    const answer = await store.runs.cancel(readId(which), by)
    if (answer === 'not_found') throw notFound(which)
    return answer
  }

  async function retry(which: string | readonly string[] | RetryFilter, options: By = {}): Promise<RunView | string[]> {
    checkKeys(options, ['by'], 'runs.retry()')
    const by = readBy(core, options)
    if (isFilter(which)) return retryMany(core, which, { by, filter: () => readFilter(core, which) })
    if (typeof which !== 'string') return which.length === 0 ? [] : retryRuns(core, which.map(readId), by)
    const [moved] = await retryRuns(core, [readId(which)], by)
    const run = await get(which)
    if (!run) throw notFound(which)
    if (moved === undefined) throw notFailed(run)
    return run
  }

  return {
    get,
    async list(options = {}) {
      checkKeys(options, FILTERS, 'runs.list()')
      const limit = readInteger(options.limit ?? 50, 'limit', [1, 1000])
      const filter = await readFilter(core, options)
      const { after } = options
      const page = {
        limit,
        ...(after ? { after: { id: readId(after.id) } } : {}),
      }
      return (await (await core.store()).history.runs(filter, page)).map(runView)
    },
    async wait<Result>(run: RunHandle<Result> | string, options: { readonly timeout?: Duration } = {}) {
      checkKeys(options, ['timeout'], 'runs.wait()')
      const id = readId(typeof run === 'string' ? run : run?.id)
      const timeoutMs = options.timeout === undefined ? undefined : readDuration(options.timeout, 'timeout')
      const seen: RunView = await waitForEnd(core, {
        look: async () => (await get(id)) ?? Promise.reject(notFound(id)),
        hasEnded: ({ state }) => ENDED.has(state),
        tooLong: (ms) => tooLong(id, ms),
        run: id,
        timeoutMs,
      })
      return seen as RunView<Result>
    },
    cancel: cancel as Runs['cancel'],
    retry: retry as Runs['retry'],
    async remove(id, options = {}) {
      checkKeys(options, ['by'], 'runs.remove()')
      const by = readBy(core, options)
      const answer = await (await core.store()).runs.remove(readId(id), by)
      if (answer === 'not_found') throw notFound(id)
      if (answer === 'live') throw notFinished(id)
    },
    async complete(id, completion) {
      checkKeys(completion, COMPLETE_KEYS, 'runs.complete()')
      const outcome = readCompletion(completion)
      const name = readId(id)
      const run = await (await core.store()).history.run(name)
      if (!run) throw notFound(id)
      await completeRun(core, run, { attempt: await attemptNamed(readToken, name, completion), outcome })
      return (await get(name))!
    },
    async attempts(id) {
      const name = readId(id)
      const { history } = await core.store()
      // First the run: what happens meanwhile is then in the journal too.
      const run = await history.run(name)
      if (!run) throw notFound(id)
      const entries = attemptsOf(run, await history.journal({ runId: name }))
      return entries.map((entry) => ({ ...entry, at: new Date(entry.at) }))
    },
    async journal(id) {
      const entries = await (await core.store()).history.journal({ runId: readId(id) })
      return entries.map((entry) => ({ ...entry, at: new Date(entry.at) }))
    },
  }
}

const ENDED: ReadonlySet<RunState> = new Set(['succeeded', 'failed', 'cancelled', 'skipped', 'missed'])

const isFilter = <Filter extends object>(which: string | readonly string[] | Filter): which is Filter => {
  if (typeof which === 'string' || Array.isArray(which)) return false
  if (typeof which === 'object' && which !== null) return true
  throw refused(`runs are named by an id, a list of ids or a filter, not by ${shown(which)}`)
}

const notFound = (id: string): EverytickError => new EverytickError('RUN_NOT_FOUND', `there is no run ${shown(id)}`)

const notFinished = (id: string): EverytickError =>
  new EverytickError('RUN_NOT_FINISHED', `run ${id} has not finished`, {
    hint: 'only a finished run is deleted: cancel it first',
  })

const notFailed = ({ id, state }: RunView): EverytickError =>
  new EverytickError('RUN_NOT_FAILED', `run ${id} is ${state}`, { hint: 'only a failed run is tried again' })

const tooLong = (id: string, timeoutMs: number): EverytickError =>
  new EverytickError('WAIT_TIMEOUT', `run ${id} has not ended after ${timeoutMs} ms`, {
    hint: 'it goes on; wait again, or look at it with app.runs.get()',
  })

/** Postgres refuses to compare a uuid with any other text, so other text is no run's id. */
function readId(id: unknown): string {
  if (typeof id !== 'string') throw refused(`the id of a run is text, not ${shown(id)}`)
  const lower = id.toLowerCase()
  if (!UUID.test(lower)) throw notFound(id)
  return lower
}

async function readFilter(core: Core, options: ParsedRequest): Promise<RunFilter> {
  const { workspace, schedule, scheduleId, job, queue, state } = options
  const states = state === undefined ? [] : typeof state === 'string' ? [state] : state
  return {
    ...(workspace === undefined ? {} : { workspace: readStoredName(workspace, 'workspace') }),
    ...(job === undefined ? {} : { job: readStoredName(job, 'job') }),
    ...(queue === undefined ? {} : { queue: readStoredName(queue, 'queue') }),
    ...(states.length === 0 ? {} : { states: states.map((each) => readChoice(each, 'state', RUN_STATES)) }),
    ...(scheduleId === undefined ? {} : { scheduleId: readId(scheduleId) }),
    ...(schedule === undefined ? {} : { scheduleId: await idOf(core, schedule, workspace ?? 'default') }),
  }
}

type ParsedRequest = Pick<RunListOptions, 'workspace' | 'schedule' | 'scheduleId' | 'job' | 'queue' | 'state'>

async function idOf(core: Core, schedule: string, workspace: string): Promise<string> {
  const key = readStoredName(schedule, 'schedule')
  const found = await (await core.store()).schedules.get(workspace, key)
  if (found) return found.id
  throw new EverytickError('SCHEDULE_NOT_FOUND', `there is no ${scheduleName({ workspace, key })}`)
}
