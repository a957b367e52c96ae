/** `app.backfills`: lists, awaits and cancels backfills; `backfill.ts` starts one, the engine's backfiller executes it. */
import { EverytickError, shown } from '../errors.ts'
import { checkKeys, type Duration, readDuration, readInteger, readStoredName, refused } from '../options.ts'
import { countEnds } from '../plan/backfill.ts'
import type { RunState } from '../run/state.ts'
import { dateOf } from '../schedule/instant.ts'
import { scheduleName } from '../schedule-definition.ts'
import type { Backfill, BackfillFilter } from '../store/contract/backfills.ts'
import type { Store } from '../store/contract/store.ts'
import { yieldToEventLoop } from '../time/in-steps.ts'
import { type By, readBy } from './actor.ts'
import type { Core } from './core.ts'
import { waitForEnd } from './wait.ts'

export interface BackfillView {
  readonly id: string
  readonly workspace: string
  readonly schedule: string
  readonly from: Date
  readonly to: Date
  readonly concurrency: number
  readonly force: boolean
  readonly by: string
  readonly createdAt: Date
  readonly finishedAt: Date | null
  readonly state: Backfill['state']
  /** Occurrences of `total` that are done: kept, or with a finished run. */
  readonly done: number
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  readonly kept: number
  /** Its runs that have not ended. */
  readonly running: number
}

export interface Backfills {
  get(id: string): Promise<BackfillView | null>
  /** Newest first, at most 1000: of one schedule (in the given workspace or in `default`), or of all. */
  list(options?: {
    readonly schedule?: string
    readonly workspace?: string
    readonly limit?: number
  }): Promise<BackfillView[]>
  /** Stops creating runs and cancels its runs that have not ended. Returns false when the backfill had ended already. */
  cancel(id: string, options?: By): Promise<boolean>
  /** Resolves when the backfill is done or cancelled and all of its runs have ended. */
  wait(id: string, options?: { readonly timeout?: Duration }): Promise<BackfillView>
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function createBackfills(core: Core): Backfills {
  const find = async (id: string): Promise<Backfill> => {
    const found = await (await core.store()).backfills.get(readId(id))
    return found ?? Promise.reject(notFound(id))
  }
  const view = (backfill: Backfill): Promise<BackfillView> => viewIn(core, backfill)

  return {
    async get(id) {
      const found = await (await core.store()).backfills.get(readId(id))
      return found && view(found)
    },
    async list(options = {}) {
      checkKeys(options, ['schedule', 'workspace', 'limit'], 'backfills.list()')
      const limit = readInteger(options.limit ?? 50, 'limit', [1, 1000])
      const store = await core.store()
      const scheduleId = options.schedule === undefined ? null : await idOf(store, options.schedule, options.workspace)
      if (scheduleId === null && options.workspace !== undefined) {
        throw refused('workspace needs schedule', 'add schedule: backfills are listed by schedule')
      }
      return backfillViews(core, { limit, ...(scheduleId === null ? {} : { scheduleId }) })
    },
    async cancel(id, options = {}) {
      checkKeys(options, ['by'], 'backfills.cancel()')
      const by = readBy(core, options)
      const store = await core.store()
      await find(id)
      const cancelled = await store.backfills.cancel(readId(id))
      // Read again: only after the cancellation can no step create more runs.
      const { open } = await find(id)
      for (const run of open) await store.runs.cancel(run, by)
      return cancelled
    },
    async wait(id, options = {}) {
      checkKeys(options, ['timeout'], 'backfills.wait()')
      return waitForEnd(core, {
        look: async () => view(await find(id)),
        hasEnded: ({ state, running }) => state !== 'running' && running === 0,
        timeoutMs: options.timeout === undefined ? undefined : readDuration(options.timeout, 'timeout'),
        tooLong: (timeoutMs) => tooLong(id, timeoutMs),
      })
    },
  }
}

/** The backfills that match the filter, as views. */
export async function backfillViews(core: Core, filter: BackfillFilter): Promise<BackfillView[]> {
  const found = await (await core.store()).backfills.list({ ...filter, omitPayload: true })
  const views: BackfillView[] = []
  // One at a time, yielding between them, because each may have a thousand unfinished runs.
  for (const backfill of found) {
    if (backfill.open.length > 0) await yieldToEventLoop()
    views.push(await viewIn(core, backfill))
  }
  return views
}

const viewIn = async (core: Core, backfill: Backfill): Promise<BackfillView> =>
  viewOf(backfill, await statesOf(core, backfill))

/** The current states of the runs that were unfinished at the last step. A run that retention deleted has ended with an unknown outcome. */
async function statesOf(core: Core, { open }: Backfill): Promise<ReadonlyMap<string, RunState>> {
  const states = open.length === 0 ? null : await (await core.store()).history.states(open)
  return new Map(open.map((id) => [id, states?.get(id) ?? 'missed']))
}

function viewOf(backfill: Backfill, states: ReadonlyMap<string, RunState>): BackfillView {
  const { id, workspace, key, concurrency, force, by, finishedAt, total, made } = backfill
  const { state, kept, succeeded, failed, cancelled, open } = countEnds(backfill, states)
  return {
    ...{ id, workspace, schedule: key, concurrency, force, by, state },
    from: new Date(backfill.fromAt),
    to: new Date(backfill.toAt),
    createdAt: new Date(backfill.createdAt),
    finishedAt: dateOf(finishedAt),
    done: kept + succeeded + failed + cancelled,
    // An edit of the schedule may have changed the total; the counted occurrences are right.
    total: state === 'done' ? kept + made : Math.max(total, kept + made),
    ...{ succeeded, failed, cancelled, kept, running: open.length },
  }
}

async function idOf(store: Store, schedule: string, workspace = 'default'): Promise<string> {
  const name = { workspace: readStoredName(workspace, 'workspace'), key: readStoredName(schedule, 'schedule') }
  const found = await store.schedules.get(name.workspace, name.key)
  if (found) return found.id
  throw new EverytickError('SCHEDULE_NOT_FOUND', `there is no ${scheduleName(name)}`)
}

function readId(id: unknown): string {
  if (typeof id !== 'string') throw refused(`the id of a backfill must be a string, not ${shown(id)}`)
  const lower = id.toLowerCase()
  if (!UUID.test(lower)) throw notFound(id)
  return lower
}

const notFound = (id: string): EverytickError =>
  new EverytickError('BACKFILL_NOT_FOUND', `there is no backfill ${shown(id)}`, {
    hint: 'list them with app.backfills.list()',
  })

const tooLong = (id: string, timeoutMs: number): EverytickError =>
  new EverytickError('WAIT_TIMEOUT', `backfill ${id} has not ended after ${timeoutMs} ms`, {
    hint: 'it continues; wait again, or read its progress with app.backfills.get()',
  })
