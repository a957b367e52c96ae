/** `app.runs`: reads, awaits, cancels, retries, completes and deletes runs; the engine executes them. */
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
  /** The id of a schedule; also finds the runs of a removed schedule. */
  readonly scheduleId?: string
  readonly job?: string
  readonly queue?: string
  readonly state?: RunState | readonly RunState[]
  /** 50 when absent, 1000 at most. */
  readonly limit?: number
  /** The last run of the previous page. */
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
  /** Live and finished runs, newest first: by the instant of their occurrence, or of the call that created them. */
  list(options?: RunListOptions): Promise<RunView[]>
  /** Resolves when the run has succeeded, failed or been cancelled, in any process. */
  wait<Result>(run: RunHandle<Result> | string, options?: { readonly timeout?: Duration }): Promise<RunView<Result>>
  /** Ends a pending or handed-over run at once; aborts the signal of any other running run. */
  cancel(id: string, options?: By): Promise<Exclude<CancelAnswer, 'not_found'>>
  /** Cancels many runs, by ids or by a filter; returns counts by outcome. */
  cancel(which: readonly string[] | CancelFilter, options?: By): Promise<CancelCounts>
  /** Retries one failed run with a new series of attempts. Throws RUN_NOT_FAILED for a run in any other state. */
  retry(id: string, options?: By): Promise<RunView>
  /** Retries many failed runs, by ids or by a filter; returns the ids of the retried runs. */
  retry(which: readonly string[] | RetryFilter, options?: By): Promise<string[]>
  /**
   * Deletes a finished run with its journal and its log. `why` and `audit` still know that there was a run, how it ended, and who
   * deleted it. Throws RUN_NOT_FINISHED for a run that is pending or running.
   */
  remove(id: string, options?: By): Promise<void>
  /**
   * Ends the current attempt of a running run, for work that its handler handed over (`HandOver`). A failed attempt is retried
   * by the run's retry policy, unless `retry` is false. Throws LEASE_LOST when another attempt has started or the run has
   * ended.
   */
  complete(id: string, completion: CompleteOptions): Promise<RunView>
  /** Every attempt, oldest first: the journal of earlier attempts, and the state or outcome of the last one. */
  attempts(id: string): Promise<AttemptView[]>
  /** The journal of a run, oldest first: retries, lost leases, operator actions and other events that its row does not have. */
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
      // Reads the run before the journal, so that changes in between are in the journal.
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
  throw refused(`pass the id of a run, a list of ids or a filter, not ${shown(which)}`)
}

const notFound = (id: string): EverytickError => new EverytickError('RUN_NOT_FOUND', `there is no run ${shown(id)}`)

const notFinished = (id: string): EverytickError =>
  new EverytickError('RUN_NOT_FINISHED', `run ${id} has not finished`, {
    hint: 'only finished runs can be deleted: cancel it first',
  })

const notFailed = ({ id, state }: RunView): EverytickError =>
  new EverytickError('RUN_NOT_FAILED', `run ${id} is ${state}`, { hint: 'only failed runs can be retried' })

const tooLong = (id: string, timeoutMs: number): EverytickError =>
  new EverytickError('WAIT_TIMEOUT', `run ${id} has not ended after ${timeoutMs} ms`, {
    hint: 'it continues; wait again, or read it with app.runs.get()',
  })

/** Postgres rejects comparing a uuid with other text, so other text is reported as not found. */
function readId(id: unknown): string {
  if (typeof id !== 'string') throw refused(`the id of a run must be a string, not ${shown(id)}`)
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
