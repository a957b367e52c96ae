/** `app.schedules.why`: gathers the stored facts about one occurrence; `plan/why.ts` decides and explains its outcome. */
import { EverytickError, shown } from '../errors.ts'
import { type Instant, readInstantOption, readStoredName } from '../options.ts'
import { definitionPeriods } from '../plan/definition-periods.ts'
import { fateOf } from '../plan/why.ts'
import { checksOf, type WhyCheck } from '../plan/why-checks.ts'
import { type Fate, meantBy, type WhyFacts } from '../plan/why-facts.ts'
import type { Run } from '../run/run.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { scheduleName } from '../schedule-definition.ts'
import type { Store } from '../store/contract/store.ts'
import { isAlive } from '../store/contract/workers.ts'
import { readable } from './audit-schedule.ts'
import type { Core } from './core.ts'

/** The outcome of an occurrence, one sentence that explains it, and the checklist behind it. */
export interface Why extends Fate {
  /** The given instant. */
  readonly at: Date
  /** The occurrence that the checks are about: the instant itself, or the nearest occurrence before it. */
  readonly slot: Date | null
  readonly checks: readonly WhyCheck[]
}

const MAX_SAME_SLOT = 100
const MAX_LIVE = 1000

export async function why(
  core: Core,
  named: { readonly workspace: string; readonly key: string },
  given: Instant,
): Promise<Why> {
  const workspace = readStoredName(named.workspace, 'workspace')
  const key = readStoredName(named.key, 'key')
  const at = readInstantOption(given, 'at')
  const store = await core.store()
  const schedule = await store.schedules.get(workspace, key)
  if (!schedule) {
    const message = `there is no ${scheduleName({ workspace, key })} in workspace ${shown(workspace)}`
    throw new EverytickError('SCHEDULE_NOT_FOUND', message)
  }
  const now = await store.now()
  const { historyMs, journalMs } = core.settings.retention
  const known = readable(
    definitionPeriods(schedule, await store.history.definitions(schedule.id), now - journalMs),
    schedule,
  )
  if (!known) return unreadable(schedule, at)
  const slotAt = meantBy(known.timeline, at)
  const found = slotAt === null ? NOTHING : await factsOf(store, schedule, slotAt)
  const workers = (await store.workers.list()).filter((worker) => isAlive(worker, now))
  const forgottenAt = now - Math.min(historyMs, journalMs)
  const facts: WhyFacts = { schedule, ...known, at, now, forgottenAt, workers, ...found }
  return {
    ...fateOf(facts),
    at: new Date(at),
    slot: slotAt === null ? null : new Date(slotAt),
    checks: checksOf(facts),
  }
}

type Found = Pick<WhyFacts, 'run' | 'deleted' | 'backfill' | 'nonRun' | 'before' | 'queue' | 'journal'>
const NOTHING: Found = {
  run: null,
  deleted: null,
  backfill: null,
  nonRun: null,
  before: null,
  queue: null,
  journal: [],
}

async function factsOf(store: Store, { id }: Schedule, slotAt: number): Promise<Found> {
  const span = { afterAt: slotAt - 1, untilAt: slotAt }
  const slots = await store.history.slots(id, span, MAX_SAME_SLOT)
  const own = slots.find(({ trigger }) => trigger !== 'backfill')
  const later = slots.findLast(({ trigger }) => trigger === 'backfill')
  const run = own ? await store.history.run(own.id) : null
  const deleted = own?.deleted ? { id: own.id, state: own.state, startedAt: own.startedAt, ...own.deleted } : null
  const [nonRun = null] = await store.history.nonRuns(id, span)
  return {
    run,
    deleted,
    backfill: later ? await store.history.run(later.id) : null,
    nonRun,
    before: nonRun?.reason === 'overlap' ? await store.history.run(nonRun.detail) : await runBefore(store, run),
    queue: run?.state === 'pending' ? await queueOf(store, run.queue) : null,
    journal: run ? await store.history.journalKinds(run.id) : [],
  }
}

const queueOf = async (store: Store, name: string): Promise<Found['queue']> =>
  (await store.queues.list()).find((queue) => queue.name === name) ?? null

/** The run of its concurrency group for which this run waits. */
async function runBefore(store: Store, run: Run | null): Promise<Run | null> {
  if (run?.state !== 'pending' || run.readiness === 'ready') return null
  const { workspace, group } = run
  for (const states of [['running'], ['pending']] as const) {
    const live = await store.history.runs({ workspace, states }, { limit: MAX_LIVE, omit: ['payload'] })
    const open = live.find((one) => one.group === group && one.readiness === 'ready')
    if (open) return open
  }
  return null
}

function unreadable(schedule: Schedule, at: number): Why {
  const sentence = 'This version cannot read the timing of the schedule, so its occurrences are unknown.'
  const reason = schedule.quarantine ? 'quarantined' : 'unreadable'
  const hint = 'change its timing, or update this process'
  return { verdict: 'not_planned_yet', reason, sentence, hint, at: new Date(at), slot: null, checks: [] }
}
