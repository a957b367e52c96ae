/** One step of a bulk operation: the next matching items, and the change to each. Idempotent. */

import { EverytickError } from '../../errors.ts'
import type { Run } from '../../run/run.ts'
import type { Schedule } from '../../schedule/schedule.ts'
import type { Everytick } from '../../scheduler.ts'
import type { Store } from '../../store/contract/store.ts'
import { defined } from '../defined.ts'
import type { BulkState, Failure, Progress } from './bulk.ts'

export interface StepAnswer extends Progress {
  readonly more: boolean
}

export interface Place {
  readonly app: Everytick
  readonly store: Store
  /** The id of the operation, used in the keys of the runs that it creates. */
  readonly id: string
  /** The only workspace that the requester may change; null: all. */
  readonly workspace: string | null
  /** When it was requested; later items are not affected. */
  readonly askedAt: number
  /** Called every few items: false if the operation was cancelled or taken over, or this node is stopping. */
  readonly goesOn: () => Promise<boolean>
}

const PAGE = 100
const AT_ONCE = 10

export function step(place: Place, state: BulkState): Promise<StepAnswer> {
  switch (state.work.action) {
    case 'runs.cancel':
      return stepRuns(place, state, ['pending', 'running'])
    case 'runs.retry':
      return stepRuns(place, state, ['failed'])
    default:
      return stepSchedules(place, state)
  }
}

async function stepSchedules(place: Place, state: BulkState): Promise<StepAnswer> {
  const after = state.after as { readonly workspace: string; readonly key: string } | null
  const page = { limit: PAGE, omitPayload: true, ...(after ? { after } : {}) }
  const { schedules, next } = await place.store.schedules.find(filterOf(place, state), page)
  const { upTo, ...done } = await each(schedules, place, (some) =>
    Promise.all(some.map((one) => answered(`${one.workspace}/${one.key}`, () => actOn(place, state, one)))),
  )
  if (upTo === schedules.length) return { ...done, after: next && { ...next }, more: next !== null }
  const last = schedules[upTo - 1]
  return { ...done, after: last ? { workspace: last.workspace, key: last.key } : state.after, more: true }
}

/** Returns whether the item still existed. */
async function actOn({ app, id, askedAt }: Place, { work, by }: BulkState, schedule: Schedule): Promise<boolean> {
  const { workspace, key, pause } = schedule
  switch (work.action) {
    case 'schedules.pause': {
      const { reason = '' } = work
      const isDone = pause && pause.at >= askedAt && pause.by === by && pause.reason === reason && pause.until === null
      if (!isDone) await app.schedules.pause(workspace, key, { by, reason })
      return true
    }
    case 'schedules.resume':
      await app.schedules.resume(workspace, key, { by, from: work.from ?? 'now' })
      return true
    case 'schedules.trigger':
      await app.schedules.trigger(workspace, key, { idempotencyKey: `operation:${id}:${schedule.id}` })
      return true
    case 'schedules.jitter':
      await app.schedules.edit(workspace, key, { jitter: work.jitter }, { by })
      return true
    case 'schedules.remove':
      return app.schedules.remove(workspace, key, { by })
    default:
      throw new Error(`${work.action} does not apply to schedules`)
  }
}

async function stepRuns(place: Place, state: BulkState, states: readonly Run['state'][]): Promise<StepAnswer> {
  const { store, askedAt } = place
  const after = state.after as { readonly id: string } | null
  const runs = await store.history.runs(
    { ...filterOf(place, state), states },
    { limit: PAGE, omit: ['payload', 'result'], ...(after ? { after } : {}) },
  )
  const cancel = ({ id }: Run): Promise<Answered> =>
    answered(id, async () => (await place.app.runs.cancel(id, { by: state.by })) !== 'finished')
  const { upTo, ...done } = await each(runs, place, async (some) => {
    if (state.work.action === 'runs.cancel') return Promise.all(some.map(cancel))
    // A run that was retried and failed again is skipped, otherwise the operation might never end.
    const meant = some.filter(({ finishedAt }) => finishedAt !== null && finishedAt <= askedAt)
    return retried(
      place,
      meant.map(({ id }) => id),
      state.by,
    )
  })
  const last = runs[upTo - 1]
  const more = upTo < runs.length || runs.length === PAGE
  return { ...done, after: last ? { id: last.id } : state.after, more }
}

/** A quota refusal is reported per item. */
async function retried({ app }: Place, ids: readonly string[], by: string): Promise<readonly Answered[]> {
  try {
    return ids.length === 0 ? [] : await app.runs.retry(ids, { by })
  } catch (error) {
    if (!(error instanceof EverytickError) || error.quota === undefined) throw error
    const { message } = error
    return ids.map((target) => ({ target, message }))
  }
}

/** The requested filter, limited to what the requester may change. */
function filterOf({ workspace }: Place, { work }: BulkState): Readonly<Record<string, never>> {
  const { all: _, ...named } = work.filter
  const given = { ...named, ...(workspace === null ? {} : { workspace }) }
  return defined(given) as never
}

/** The id of the processed item, its error, or nothing. */
type Answered = string | Failure | null

/** Errors that are not about the item: the whole step is retried, here or on another node. */
const OURS: ReadonlySet<string> = new Set(['STORE_FULL', 'STORE_STANDBY', 'STORE_UNREACHABLE', 'NOT_STARTED'])
/** The item was removed in the meantime. */
const GONE: ReadonlySet<string> = new Set(['SCHEDULE_NOT_FOUND', 'RUN_NOT_FOUND'])

async function answered(target: string, act: () => Promise<boolean>): Promise<Answered> {
  try {
    return (await act()) ? target : null
  } catch (error) {
    const code = error instanceof EverytickError ? error.code : ''
    if (OURS.has(code)) throw error
    if (GONE.has(code)) return null
    return { target, message: error instanceof Error ? error.message : String(error) }
  }
}

/** A few items at a time; a failure is reported and does not stop the others. */
async function each<Item>(
  items: readonly Item[],
  { goesOn }: Place,
  act: (some: readonly Item[]) => Promise<readonly Answered[]>,
): Promise<{ done: number; failed: Failure[]; upTo: number }> {
  const answers: Answered[] = []
  let upTo = 0
  while (upTo < items.length && (upTo === 0 || (await goesOn()))) {
    const some = items.slice(upTo, upTo + AT_ONCE)
    answers.push(...(await act(some)))
    upTo += some.length
  }
  return {
    done: answers.filter((answer) => typeof answer === 'string').length,
    failed: answers.filter((answer) => typeof answer === 'object' && answer !== null),
    upTo,
  }
}
