/** One step of bulk work: the next few that fit, and what is done to each. A step that is done twice does no harm. */

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
  /** Of the operation: what it makes is named after it. */
  readonly id: string
  /** The only workspace that whoever asked for it may touch; null: all. */
  readonly workspace: string | null
  /** When it was asked for: what happened later is not meant. */
  readonly askedAt: number
  /** Asked every few items: whether it was neither cancelled nor taken over by another node, and this one is not stopping. */
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

/** Answers whether there was anything to do it to. */
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
    // One that was tried again and failed again is left, or it might go on for ever.
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

/** What a quota refuses is told of each. */
async function retried({ app }: Place, ids: readonly string[], by: string): Promise<readonly Answered[]> {
  try {
    return ids.length === 0 ? [] : await app.runs.retry(ids, { by })
  } catch (error) {
    if (!(error instanceof EverytickError) || error.quota === undefined) throw error
    const { message } = error
    return ids.map((target) => ({ target, message }))
  }
}

/** What was named, within what whoever asked may touch. */
function filterOf({ workspace }: Place, { work }: BulkState): Readonly<Record<string, never>> {
  const { all: _, ...named } = work.filter
  const given = { ...named, ...(workspace === null ? {} : { workspace }) }
  return defined(given) as never
}

/** The id of what was dealt with, what went wrong, or nothing. */
type Answered = string | Failure | null

/** These say nothing about the item: the whole step is tried again, here or on another node. */
const OURS: ReadonlySet<string> = new Set(['STORE_FULL', 'STORE_STANDBY', 'STORE_UNREACHABLE', 'NOT_STARTED'])
/** It went while we were on the way to it. */
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

/** A few at a time; what fails is told and does not hold up the others. */
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
