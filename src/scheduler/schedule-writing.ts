/** Writes new, changed and resumed schedules and accounts for their past; `definitions.ts` builds the definition, `first-fire.ts` its beginning. */
import { EverytickError } from '../errors.ts'
import { accountUpTo } from '../plan/account.ts'
import { pauseDetail, pausedRange } from '../plan/non-run.ts'
import { type Schedule, type ScheduleDefinition, seedOf } from '../schedule/schedule.ts'
import { type Slots, slotsOf } from '../schedule/slots.ts'
import { scheduleName } from '../schedule-definition.ts'
import type { Executor } from '../store/contract/executor.ts'
import type { PutAnswer, PutSchedule, Resume } from '../store/contract/schedules.ts'
import type { Store } from '../store/contract/store.ts'
import { yieldToEventLoop } from '../time/in-steps.ts'
import type { Core } from './core.ts'
import { firstFires } from './first-fire.ts'
import type { InitialPause } from './read-pause.ts'
import { emitChange } from './schedule-changes.ts'
import { scheduleDraws } from './schedule-draws.ts'

export interface Putting {
  readonly tx?: Executor | undefined
  readonly by: string
  /** Changes the schedule only while this is its revision. */
  readonly from?: number
  /** Only creates; throws when the schedule exists. */
  readonly onlyNew?: boolean
  /** The initial pause of the definition with the same index, if it is new. */
  readonly pauses?: readonly (InitialPause | null)[]
  /** The actor of those pauses; `by` when absent. */
  readonly pausedBy?: string
  /** The store's clock, if the caller has already read it. */
  readonly asked?: Promise<number>
}

export interface Put {
  readonly answers: readonly PutAnswer[]
  /** The next fire of the definition with this index: not the cursor, which is ahead by the lookahead. */
  nextFireAt(i: number): Date | null
}

const MAX_TRIES = 10

/**
 * Creating takes one round trip. For a schedule that exists and differs, the occurrences up to now are first accounted for by
 * the old definition. If another writer is faster, the loop reads the schedule again.
 */
export function putSchedules(core: Core, definitions: readonly ScheduleDefinition[], putting: Putting): Promise<Put> {
  const isNew = putting.onlyNew ? true : putting.from === undefined ? undefined : false
  return core.quotas.within(
    () => scheduleDraws(core, definitions, { isNew, tx: putting.tx }),
    () => put(core, definitions, putting),
    putting.tx,
  )
}

async function put(
  core: Core,
  definitions: readonly ScheduleDefinition[],
  { tx, by, from, onlyNew = false, pauses = [], pausedBy = by, asked }: Putting,
): Promise<Put> {
  const store = await core.store()
  const ids = definitions.map(() => core.newId())
  const seen = new Map<number, number>()
  // A caller that names a revision has seen the schedule: account for it first, and never create it again.
  let before: readonly PutAnswer[] = from === undefined ? [] : definitions.map(() => seenAt(from))
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const now = await (tries === 0 && asked ? asked : store.now())
    // A transaction uses one connection, which runs one query at a time.
    for (const some of chunks(differing(before), tx ? 1 : AT_ONCE)) {
      const look = async ({ i, revision }: Differing): Promise<void> => {
        const of = definitions[i]!
        const is = from !== undefined && revision !== from ? revision : await settlePast(store, of, { now, tx })
        if (from !== undefined && is === 0) throw goneMeanwhile(of)
        if (from !== undefined && is !== from) throw conflict(of, { seen: from, is })
        if (is === 0) seen.delete(i)
        else seen.set(i, is)
      }
      await Promise.all(some.map(look))
    }
    const firstOf = firstFires(now)
    const puts = definitions.map((definition, i): PutSchedule => {
      const { nextAt, watermarkAt } = firstOf(definition)
      const pause = pauses[i] ? { ...pauses[i], by: pausedBy } : null
      return { id: ids[i]!, from: seen.get(i) ?? null, by, definition, nextAt, watermarkAt, pause }
    })
    const answers = await store.schedules.put(puts, tx)
    const old = onlyNew ? answers.findIndex(({ created }) => !created) : -1
    if (old >= 0) throw exists(definitions[old]!)
    // Inside a transaction the first try has written the others, so the second try finds them unchanged.
    const merged = tx ? answers.map((answer, i) => joined(before[i], answer)) : answers
    before = merged
    if (differing(merged).length > 0) continue
    const nextFireAt = (i: number): Date | null =>
      merged[i]!.nextAt === null || (merged[i]!.created && pauses[i]) ? null : firstOf(definitions[i]!).nextRun()
    emitChange(core, { action: 'created', schedules: definitions.filter((_, i) => merged[i]!.created), by })
    const changed = definitions.filter((_, i) => !merged[i]!.created && merged[i]!.changed)
    emitChange(core, { action: 'changed', schedules: changed, by })
    return { answers: merged, nextFireAt }
  }
  const [first] = differing(before)
  throw conflict(definitions[first!.i]!, { seen: seen.get(first!.i) ?? null, is: first!.revision })
}

const seenAt = (revision: number): PutAnswer => ({
  ...{ id: '', created: false, changed: false, differs: true, revision, nextAt: null },
})

interface Differing {
  readonly i: number
  readonly revision: number
}

function differing(answers: readonly PutAnswer[]): Differing[] {
  const found: Differing[] = []
  for (const [i, { differs, revision }] of answers.entries()) if (differs) found.push({ i, revision })
  return found
}

/** How many schedules are read in parallel. */
const AT_ONCE = 50

/** Splits a list, so that not all entries are read at once. */
export function chunks<T>(list: readonly T[], size = AT_ONCE): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, n) => list.slice(n * size, (n + 1) * size))
}

const joined = (before: PutAnswer | undefined, answer: PutAnswer): PutAnswer => ({
  ...answer,
  created: answer.created || (before?.created ?? false),
  changed: answer.changed || (before?.changed ?? false),
})

export interface PastOf {
  readonly now: number
  readonly tx?: Executor | undefined
}

/**
 * Records, step by step, the outcome of the occurrences up to `now` by the stored definition. Returns the revision whose past is
 * completely accounted for, or 0 when the schedule does not exist any more.
 */
export async function settlePast(store: Store, name: Name, { now, tx }: PastOf): Promise<number> {
  for (let stale = 0; stale < MAX_TRIES; ) {
    const schedule = await store.schedules.get(name.workspace, name.key, tx)
    if (schedule === null) return 0
    const step = accountUpTo(schedule, now)
    if (step === null) return schedule.revision
    const [answer] = await store.planning.record([step], tx)
    if (answer === 'stale') stale++
    await yieldToEventLoop()
  }
  throw busy(name)
}

interface Name {
  readonly workspace: string
  readonly key: string
}

/** Other writers kept changing the schedule, or changed it since the caller read it. */
export function conflict(
  name: Name,
  { seen, is }: { readonly seen: number | null; readonly is: number },
): EverytickError {
  const text = `${scheduleName(name)} is at revision ${is}${seen === null ? '' : `, not ${seen}`}`
  return new EverytickError('REVISION_CONFLICT', text, {
    hint: 'read it again, and repeat the change if it still fits',
  })
}

const exists = (name: Name): EverytickError =>
  new EverytickError('SCHEDULE_EXISTS', `${scheduleName(name)} already exists`, {
    hint: 'change it with edit(), or use upsert() to create or change',
  })

const goneMeanwhile = (name: Name): EverytickError =>
  new EverytickError('SCHEDULE_NOT_FOUND', `${scheduleName(name)} was removed meanwhile`)

const busy = (name: Name): EverytickError =>
  new EverytickError('REVISION_CONFLICT', `${scheduleName(name)} changed during every one of ${MAX_TRIES} tries`, {
    hint: 'try again',
  })

export interface Resuming {
  readonly tx?: Executor | undefined
  readonly by: string
  /** Whether the catch-up policy decides about occurrences during the pause; otherwise they are recorded as skipped. */
  readonly catchUp?: boolean
}

/** Another writer may change the schedule between the read and the write; the store then rejects the write, and the loop reads again. */
export async function resumeSchedule(
  core: Core,
  look: () => Promise<Schedule>,
  { tx, by, catchUp = false }: Resuming,
): Promise<boolean> {
  const store = await core.store()
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const seen = await look()
    if (seen.pause === null) return false
    const slots = readable(seen)
    const now = await store.now()
    // If there are too many occurrences for one record, they are recorded first, step by step.
    const isMuch = !catchUp && slots !== null && slots.countableUntil(seen.watermarkAt, now) < now
    if (isMuch) await settlePast(store, seen, { now, tx })
    const schedule = isMuch ? await look() : seen
    if (schedule.pause === null) return false
    const change = { ...resumption(schedule, { now, catchUp }), by }
    if (!(await store.schedules.resume(schedule.workspace, schedule.key, change, tx))) continue
    emitChange(core, { action: 'resumed', schedules: [schedule], by })
    return true
  }
  throw busy(await look())
}

/** Records all occurrences during the pause as one skipped range, or leaves them to the catch-up policy. */
export function resumption(
  schedule: Schedule,
  { now, catchUp }: { readonly now: number; readonly catchUp: boolean },
): Omit<Resume, 'by'> {
  const { revision, watermarkAt: afterAt, pause } = schedule
  const slots = readable(schedule)
  // Occurrences after `until` were not paused, even if no process was running to resume the schedule.
  const untilAt = catchUp ? afterAt : Math.max(afterAt, Math.min(now, pause?.until ?? now))
  const detail = pause ? pauseDetail(pause) : ''
  return {
    revision,
    expectedWatermarkAt: afterAt,
    nextAt: slots?.nextAt(untilAt) ?? null,
    watermarkAt: untilAt,
    nonRuns: slots ? pausedRange(slots, { afterAt, untilAt, detail }) : [],
  }
}

/** Null for an unreadable timing, whose past occurrences are unknown; the schedule stays in quarantine. */
function readable(schedule: Schedule): Slots | null {
  try {
    return slotsOf(schedule.timing, seedOf(schedule))
  } catch {
    return null
  }
}
