/** Carries backfills on: looks how far each has come, lets `plan/backfill.ts` decide the next step, writes; a crash in between costs nothing. */
import { nextStep, stretchOf } from '../plan/backfill.ts'
import type { RunState } from '../run/state.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { Backfill, BackfillProgress } from '../store/contract/backfills.ts'
import type { Store } from '../store/contract/store.ts'
import type { Leadership } from './leadership.ts'
import { POLL_MS, type PollMs } from './poll.ts'

/** Backfills in one pass. */
const BATCH = 100
const PAGE = 1000
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** Steps of one backfill in one pass, so that a long stretch that ran already does not hold up the others. */
const MAX_STEPS = 20

export interface BackfillerOptions {
  readonly store: Pick<Store, 'backfills' | 'history' | 'schedules' | 'now'>
  readonly leadership: Leadership
  /** While there is none. */
  readonly pollMs: PollMs
  /** Called after every step that was written. */
  readonly onStep: () => void
}

export interface Backfiller {
  /** Every running backfill goes as far as it can; answers in how many milliseconds to look again. */
  pass(): Promise<number>
}

export function createBackfiller({ store, leadership, pollMs, onStep }: BackfillerOptions): Backfiller {
  const { backfills, history, schedules } = store

  /** How those of its runs that are over ended; one that nobody remembers is over too. */
  const endedOf = async ({ open }: Backfill): Promise<Map<string, RunState>> => {
    const ended = new Map<string, RunState>()
    const states = open.length === 0 ? null : await history.states(open)
    for (const id of open) {
      const state = states?.get(id) ?? 'cancelled'
      if (state !== 'pending' && state !== 'running') ended.set(id, state)
    }
    return ended
  }

  /** Nominal instants that the next step may reach and that have a run. */
  const takenIn = async (backfill: Backfill, schedule: Schedule): Promise<Set<number>> => {
    const { afterAt, untilAt } = stretchOf({ backfill, schedule })
    const taken = new Set<number>()
    for (let from = afterAt; from < untilAt; ) {
      const page = await history.slots(schedule.id, { afterAt: from, untilAt }, PAGE)
      for (const { scheduledAt } of page) taken.add(scheduledAt)
      from = page.length < PAGE ? untilAt : page.at(-1)!.scheduledAt
    }
    return taken
  }

  /** Answers whether another step may follow at once. */
  const step = async (backfill: Backfill): Promise<boolean> => {
    const schedule = await schedules.get(backfill.workspace, backfill.key)
    if (!schedule || schedule.id !== backfill.scheduleId) {
      if (await backfills.cancel(backfill.id)) onStep()
      return false
    }
    const [ended, now] = [await endedOf(backfill), await store.now()]
    const busy = backfill.open.length - ended.size >= backfill.concurrency
    // Without room nothing is made, whatever has run already.
    const taken = busy || backfill.force ? new Set<number>() : await takenIn(backfill, schedule)
    const next = nextStep({ backfill, schedule, ended, taken, now })
    if (next.runs.length === 0 && !differs(backfill, next.progress)) return false
    if (!(await backfills.advance(backfill.id, backfill.version, next))) return false
    onStep()
    return next.progress.state === 'running' && next.progress.open.length < backfill.concurrency
  }

  const carryOn = async (found: Backfill): Promise<void> => {
    let backfill = await backfills.get(found.id)
    for (let left = MAX_STEPS; left > 0 && backfill?.state === 'running'; left--) {
      if (!(await step(backfill))) return
      backfill = await backfills.get(backfill.id)
    }
  }

  /** Where the pass before ended, while there are more than one pass takes: many of one workspace do not hold up the others. */
  let last: string | undefined
  const nextPage = async (): Promise<Backfill[]> => {
    const page = { state: 'running', limit: BATCH, omitPayload: true } as const
    // The usual case, which an index answers; a list by ids reads those that ended too.
    const newest = await backfills.list(page)
    if (newest.length < BATCH) return newest
    const ids = { from: FIRST_ID, ...(last === undefined ? {} : { before: last }) }
    const found = await backfills.list({ ...page, ids })
    last = found.length === BATCH ? found.at(-1)!.id : undefined
    return found.length > 0 ? found : newest
  }

  return {
    async pass() {
      const running = await nextPage()
      // There is none most of the time, and a lease is a write.
      if (running.length === 0) return pollMs()
      if (!(await leadership.leads())) return POLL_MS
      const failures: unknown[] = []
      // One that cannot be carried on, because its timing cannot be read here, must not hold up the others.
      for (const backfill of running) await carryOn(backfill).catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
      return POLL_MS
    },
  }
}

const differs = (before: BackfillProgress, after: BackfillProgress): boolean =>
  before.doneUntilAt !== after.doneUntilAt ||
  before.state !== after.state ||
  before.kept !== after.kept ||
  before.open.length !== after.open.length ||
  before.open.some((id, i) => after.open[i] !== id)
